// Files that must each give exactly one clear error: shared by the unit test, the fuzzer's corpus
// and the acceptance run, which writes them out (write_bad_files) and inspects each.
#pragma once
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/gguf/bytes.h"

namespace hwtv::gguf {

struct BadFile {
  std::string name;
  ErrorCode code;
  int64_t at_byte;   // the place that the error names
  std::string says;  // a part of the error: what was expected there, or found
  std::string bytes;
};

inline Bytes header(uint64_t n_tensors, uint64_t n_entries, uint32_t version = 3) {
  return std::move(Bytes().header(n_tensors, n_entries, version));
}

inline std::vector<BadFile> bad_starts() {
  constexpr auto corrupt = ErrorCode::corrupt_file, unsupported = ErrorCode::unsupported;
  constexpr uint64_t huge = uint64_t{1} << 60;
  return {
      {"empty", corrupt, 0, "magic 'GGUF', found an empty file", ""},
      {"one_byte", corrupt, 0, "found 'G'", "G"},
      {"old_magic", corrupt, 0, "found 'GGML'", Bytes("GGML").fill(60).take()},
      {"safetensors", corrupt, 0, "magic 'GGUF'", Bytes().put(uint64_t{2}).text("{}").take()},
      {"web_page", corrupt, 0, "magic 'GGUF'", "<!DOCTYPE html><html></html>"},
      {"lfs_pointer", corrupt, 0, "git lfs pull", "version https://git-lfs.github.com/spec/v1\n"},
      {"magic_only", corrupt, 4, "4 bytes for the version", "GGUF"},
      {"version_cut", corrupt, 4, "2 until the end", Bytes("GGUF").fill(2, 3).take()},
      {"version_0", corrupt, 4, "version 2 or 3", header(0, 0, 0).take()},
      {"version_1", unsupported, 4, "found version 1", header(0, 0, 1).take()},
      {"version_4", unsupported, 4, "found version 4", header(0, 0, 4).take()},
      {"version_garbage", unsupported, 4, "version 2 or 3", header(0, 0, 0xdeadbeef).take()},
      {"big_endian", unsupported, 4, "little-endian", header(0, 0, 0x03000000).take()},
      {"no_counts", corrupt, 8, "the number of tensors", Bytes("GGUF").put(3u).take()},
      {"one_count", corrupt, 16, "the number of metadata entries",
       Bytes("GGUF").put(3u).put(uint64_t{0}).take()},
      {"tensors_2_60", corrupt, 8, "found 1152921504606846976", header(huge, 0).take()},
      {"tensors_minus_1", corrupt, 8, "at most 0 tensors", header(~uint64_t{0}, 0).take()},
      {"tensors_beyond_file", corrupt, 8, "tensors", header(100, 0).fill(1000).take()},
      {"entries_2_60", corrupt, 16, "found 1152921504606846976", header(0, huge).take()},
      {"entries_minus_1", corrupt, 16, "metadata entries", header(0, ~uint64_t{0}).take()},
      {"entries_one_too_many", corrupt, 53, "8 bytes for a key, found 0",
       header(0, 2).key("key1", ValueType::STRING).string("seven").take()},
      {"all_ones", corrupt, 8, "tensors", Bytes("GGUF").put(3u).fill(200, '\xff').take()},
  };
}

inline std::vector<BadFile> bad_metadata() {
  constexpr auto corrupt = ErrorCode::corrupt_file, unsupported = ErrorCode::unsupported;
  using enum ValueType;
  const auto one = [] { return header(0, 1); };
  const auto alignment = [&] { return one().key("general.alignment", U32); };
  return {
      {"key_2_63", corrupt, 32, "a key", one().put(uint64_t{1} << 63).fill(20).take()},
      {"key_beyond_file", corrupt, 32, "21 bytes for a key",
       one().put(uint64_t{21}).fill(20).take()},
      {"key_empty", corrupt, 24, "a key of 1 to 1024 bytes", one().string("").fill(20).take()},
      {"key_too_long", corrupt, 24, "found one of 1025",
       one().key(std::string(1025, 'k'), U8).put('x').take()},
      {"key_twice", corrupt, 38, "'k' again, first at byte 24",
       header(0, 2).key("k", U8).put('x').key("k", U8).put('x').take()},
      {"key_with_escapes", corrupt, 37, "'\\x1b[2J\\x07'",
       one().key("\x1b[2J\a", ValueType(99)).put(0u).take()},
      {"type_missing", corrupt, 36, "a value's type", one().string("four").fill(2).take()},
      {"type_13", corrupt, 33, "a value's type from 0 to 12, found 13",
       one().key("k", ValueType(13)).put(0u).take()},
      {"type_minus_1", corrupt, 33, "found 4294967295",
       one().key("k", ValueType(~0u)).put(0u).take()},
      {"value_cut", corrupt, 37, "4 bytes for a value, found 3",
       one().key("k", U32).fill(3).take()},
      {"value_f64_cut", corrupt, 37, "8 bytes for a value", one().key("k", F64).fill(7).take()},
      {"bool_2", corrupt, 37, "a bool of 0 or 1, found 2", one().key("k", BOOL).put('\2').take()},
      {"string_minus_1", corrupt, 45, "18446744073709551615 bytes for a string",
       one().key("k", STRING).put(~uint64_t{0}).fill(9).take()},
      {"string_beyond_file", corrupt, 45, "10 bytes for a string, found 9",
       one().key("k", STRING).put(uint64_t{10}).fill(9).take()},
      {"array_nested", unsupported, 37, "an array of arrays",
       one().array("k", ARRAY, 1).put(U8).put(uint64_t{1}).put('x').take()},
      {"array_type_99", corrupt, 37, "found 99", one().array("k", ValueType(99), 1).take()},
      {"array_length_missing", corrupt, 41, "an array's length",
       one().key("k", ARRAY).put(U8).fill(7).take()},
      {"array_2_60", corrupt, 41, "at most 9 u8s",
       one().array("k", U8, uint64_t{1} << 60).fill(9).take()},
      {"array_size_wraps", corrupt, 41, "at most 1 u64s",
       one().array("k", U64, (uint64_t{1} << 61) + 1).fill(8).take()},
      {"array_minus_1", corrupt, 41, "at most 2 f32s",
       one().array("k", F32, ~uint64_t{0}).fill(8).take()},
      {"array_one_too_long", corrupt, 41, "at most 3 i16s, as many",
       one().array("k", I16, 4).fill(7).take()},
      {"array_bool_7", corrupt, 51, "found 7", one().array("k", BOOL, 4).text("\1\1\7\1").take()},
      {"strings_2_61", corrupt, 41, "at most 1 strings",
       one().array("k", STRING, uint64_t{1} << 61).fill(8).take()},
      {"strings_cut", corrupt, 58, "8 bytes for a string of an array, found 7",
       one().array("k", STRING, 2).string("a").fill(7).take()},
      {"strings_beyond_file", corrupt, 66, "5 bytes for a string of an array, found 4",
       one().array("k", STRING, 2).string("a").put(uint64_t{5}).fill(4).take()},
      {"strings_wrap", corrupt, 57, "18446744073709551608 bytes",
       one().array("k", STRING, 2).put(~uint64_t{7}).fill(16).take()},
      {"alignment_0", corrupt, 53, "power of two, 8 or more, found 0", alignment().put(0u).take()},
      {"alignment_24", corrupt, 53, "found 24", alignment().put(24u).take()},
      {"alignment_4", corrupt, 53, "found 4", alignment().put(4u).take()},
      {"alignment_u64", corrupt, 53, "found u64",
       one().key("general.alignment", U64).put(uint64_t{32}).take()},
      {"alignment_string", corrupt, 53, "found string",
       one().key("general.alignment", STRING).string("32").take()},
  };
}

inline std::vector<BadFile> bad_tensors() {
  constexpr auto corrupt = ErrorCode::corrupt_file;
  constexpr uint32_t F32 = 0, Q4_0 = 2, Q4_K = 12, IQ2_XXS = 16, kUnknown = 77;
  const auto one = [] { return header(1, 0); };
  return {
      {"name_empty", corrupt, 24, "a name of 1 to 256 bytes, found one of 0",
       one().tensor("", {8}, F32, 0).pad_to(96).take()},
      {"name_too_long", corrupt, 24, "found one of 257",
       one().tensor(std::string(257, 't'), {8}, F32, 0).pad_to(400).take()},
      {"name_2_62", corrupt, 32, "4611686018427387904 bytes for a tensor's name",
       one().put(uint64_t{1} << 62).fill(50).take()},
      {"name_twice", corrupt, 57, "'t' again (tensor 1), first in",
       header(2, 0).tensor("t", {8}, F32, 0).tensor("t", {8}, F32, 32).pad_to(160).take()},
      {"dimensions_5", corrupt, 33, "at most 4 dimensions, found 5",
       one().tensor("t", {1, 1, 1, 1, 8}, F32, 0).pad_to(160).take()},
      {"dimensions_minus_1", corrupt, 33, "found 4294967295",
       one().string("t").put(~0u).pad_to(96).take()},
      {"dimension_0", corrupt, 45, "a dimension from 1",
       one().tensor("t", {8, 0}, F32, 0).pad_to(128).take()},
      {"dimension_2_63", corrupt, 37, "found 9223372036854775808",
       one().tensor("t", {uint64_t{1} << 63}, F32, 0).pad_to(128).take()},
      {"dimensions_wrap", corrupt, 45, "a dimension from 1 to 2147483647",
       one().tensor("t", {uint64_t{1} << 32, uint64_t{1} << 32}, F32, 0).pad_to(128).take()},
      {"bytes_wrap", corrupt, 45, "less than 2^63 bytes",
       one().tensor("t", {uint64_t{1} << 62}, F32, 0).pad_to(128).take()},
      {"tensor_2_60", corrupt, 64, "4611686018427387904 bytes of tensor data, found 64",
       one().tensor("t", {uint64_t{1} << 60}, F32, 0).pad_to(128).take()},
      {"row_33_of_q4_0", corrupt, 45, "a multiple of 32 elements, as Q4_0 needs, found rows of 33",
       one().tensor("t", {33}, Q4_0, 0).pad_to(128).take()},
      {"row_576_of_q4_k", corrupt, 53, "a multiple of 256 elements, as Q4_K needs",
       one().tensor("t", {576, 256}, Q4_K, 0).pad_to(200000).take()},
      {"row_100_of_iq2_xxs", corrupt, 45, "as IQ2_XXS needs",
       one().tensor("t", {100}, IQ2_XXS, 0).pad_to(512).take()},
      {"scalar_of_q4_0", corrupt, 37, "found rows of 1",
       one().tensor("t", {}, Q4_0, 0).pad_to(128).take()},
      {"dimensions_cut", corrupt, 45, "8 bytes for a dimension, found 7",
       one().tensor("t", {8, 8}, F32, 0).take().substr(0, 52)},
      {"tensor_type_cut", corrupt, 53, "4 bytes for a tensor's type, found 3",
       one().tensor("t", {8, 8}, F32, 0).take().substr(0, 56)},
      {"offset_cut", corrupt, 57, "8 bytes for a tensor's offset, found 7",
       one().tensor("t", {8, 8}, F32, 0).take().substr(0, 64)},
      {"offset_unaligned", corrupt, 49, "a multiple of 32, found 16",
       one().tensor("t", {8}, F32, 16).pad_to(128).take()},
      {"offset_2_63", corrupt, 49, "inside a file of 128 bytes",
       one().tensor("t", {8}, F32, uint64_t{1} << 63).pad_to(128).take()},
      {"offset_wraps", corrupt, 49, "found 18446744073709551584",
       one().tensor("t", {8}, F32, ~uint64_t{31}).pad_to(128).take()},
      {"offset_at_end", corrupt, 128, "found the file's end at byte 128",
       one().tensor("t", {8}, F32, 64).pad_to(128).take()},
      {"data_missing", corrupt, 64, "the file's end at byte 57",
       one().tensor("t", {8}, F32, 0).take()},
      {"data_cut", corrupt, 64, "32 bytes of tensor data, found 31",
       one().tensor("t", {8}, F32, 0).pad_to(95).take()},
      {"tensors_same_place", corrupt, 96, "tensor 'a', which ends at byte 128",
       header(2, 0).tensor("a", {8}, F32, 0).tensor("b", {8}, F32, 0).pad_to(160).take()},
      {"tensors_overlap", corrupt, 128, "tensor 'a', which ends at byte 132",
       header(2, 0).tensor("a", {9}, F32, 0).tensor("b", {8}, F32, 32).pad_to(192).take()},
      {"tensors_overlap_backwards", corrupt, 128, "tensor 'b', which ends at byte 132",
       header(2, 0).tensor("a", {8}, F32, 32).tensor("b", {9}, F32, 0).pad_to(192).take()},
      {"unknown_type_outside", corrupt, 128, "the file's end",
       one().tensor("t", {8}, kUnknown, 64).pad_to(128).take()},
      {"unknown_types_same_place", corrupt, 96, "bytes of tensor 'a'",
       header(2, 0).tensor("a", {8}, kUnknown, 0).tensor("b", {8}, kUnknown, 0).pad_to(160).take()},
  };
}

inline std::vector<BadFile> bad_files() {
  std::vector<BadFile> all = bad_starts();
  for (auto more : {bad_metadata(), bad_tensors()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace hwtv::gguf
