#include "text/pre_tokenizer_rules.h"

#include <algorithm>

namespace hwtv::text {

namespace {

using Kind = Pass::Kind;

// Parts that the families share.  The expressions are those of the models' tokenizer.json, with the
// simplifications that the models' GGUF users rely on (letters beyond ASCII have no case).
#define CONTRACTION "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#define WORD "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define SIGNS " ?[^\\s\\p{L}\\p{N}]+"
#define SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER "[A-Z\\p{LBeyondAscii}]"
#define LOWER "[a-z\\p{LBeyondAscii}]"
#define UPPER_OR_MARK "[A-Z\\p{LBeyondAscii}\\p{M}]"
#define LOWER_OR_MARK "[a-z\\p{LBeyondAscii}\\p{M}]"
#define ASCII_SIGN "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~]"
#define KANA_AND_HAN "[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{30FF}]+"

constexpr std::string_view kGpt2 =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+|" SIGNS "|\\s+(?!\\S)|\\s+";
constexpr std::string_view kLlama3 = CONTRACTION "|" WORD "|\\p{N}{1,3}|" SIGNS "[\\r\\n]*|" SPACES;
constexpr std::string_view kQwen2 = CONTRACTION "|" WORD "|\\p{N}|" SIGNS "[\\r\\n]*|" SPACES;
constexpr std::string_view kNumber = "\\p{N}";
constexpr std::string_view kNumbers = "\\p{N}+";
constexpr std::string_view kThreeNumbers = "\\p{N}{1,3}";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";
constexpr std::string_view kLine = "[^\\n]+|\\n+";
constexpr std::string_view kLineBreak = "[\\r\\n]";
constexpr std::string_view kPhrase =
    " ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{FF0C}\\x{3001}\\x{964}\\x{6D4}\\x{60C})]+";
constexpr std::string_view kDeepseek3 = ASCII_SIGN
    "[A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|" SPACES;
// The cased letters of Unicode 11, as DeepSeek's tokenizer.json lists them.
constexpr std::string_view kDeepseekLetters =
    "\\s?[A-Za-z\\x{B5}\\x{C0}-\\x{D6}\\x{D8}-\\x{F6}\\x{F8}-\\x{1BA}\\x{1BC}-\\x{1BF}"
    "\\x{1C4}-\\x{293}\\x{295}-\\x{2AF}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37B}-\\x{37D}\\x{37F}"
    "\\x{386}\\x{388}-\\x{38A}\\x{38C}\\x{38E}-\\x{3A1}\\x{3A3}-\\x{3F5}\\x{3F7}-\\x{481}"
    "\\x{48A}-\\x{52F}\\x{531}-\\x{556}\\x{10A0}-\\x{10C5}\\x{13A0}-\\x{13F5}\\x{13F8}-\\x{13FD}"
    "\\x{1C90}-\\x{1CBA}\\x{1CBD}-\\x{1CBF}\\x{1D00}-\\x{1D2B}\\x{1D6B}-\\x{1D77}"
    "\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}\\x{1F18}-\\x{1F1D}\\x{1F20}-\\x{1F45}"
    "\\x{1F48}-\\x{1F4D}\\x{1F50}-\\x{1F57}\\x{1F59}\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}"
    "\\x{1F80}-\\x{1FB4}\\x{1FB6}-\\x{1FBC}\\x{1FBE}\\x{1FC2}-\\x{1FC4}\\x{1FC6}-\\x{1FCC}"
    "\\x{1FD0}-\\x{1FD3}\\x{1FD6}-\\x{1FDB}\\x{1FE0}-\\x{1FEC}\\x{1FF2}-\\x{1FF4}"
    "\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}\\x{210A}-\\x{2113}\\x{2115}\\x{2119}-\\x{211D}\\x{2124}"
    "\\x{2126}\\x{2128}\\x{212A}-\\x{212D}\\x{212F}-\\x{2134}\\x{2139}\\x{213C}-\\x{213F}"
    "\\x{2145}-\\x{2149}\\x{214E}\\x{2183}\\x{2184}\\x{2C00}-\\x{2C7B}\\x{2C7E}-\\x{2CE4}"
    "\\x{2CEB}-\\x{2CEE}\\x{2CF2}\\x{2CF3}\\x{A640}-\\x{A66D}\\x{A680}-\\x{A69B}"
    "\\x{A722}-\\x{A76F}\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-\\x{ABBF}"
    "\\x{FB00}-\\x{FB06}\\x{FB13}-\\x{FB17}\\x{FF21}-\\x{FF3A}\\x{FF41}-\\x{FF5A}"
    "\\x{10400}-\\x{1044F}\\x{104B0}-\\x{104D3}\\x{104D8}-\\x{104FB}\\x{10C80}-\\x{10CB2}"
    "\\x{10CC0}-\\x{10CF2}\\x{118A0}-\\x{118DF}\\x{1E900}-\\x{1E943}]+";
constexpr std::string_view kDeepseekHan =
    "[\\x{4E00}-\\x{9FA5}\\x{800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+";

constexpr Pass kDefaultPasses[] = {{Kind::pattern, "[\\p{P}$+<=>^~|]+"},
                                   {Kind::pattern, kGpt2},
                                   {Kind::pattern, kNumbers},
                                   {Kind::pattern, kThreeDigits}};
constexpr Pass kGpt2Passes[] = {{Kind::pattern, kGpt2}};
constexpr Pass kStarcoderPasses[] = {{Kind::pattern, kNumber}, {Kind::pattern, kGpt2}};
constexpr Pass kFalconPasses[] = {
    {Kind::pattern, "[\\p{P}$+<=>^~|`]+"}, {Kind::pattern, kGpt2}, {Kind::pattern, kThreeDigits}};
constexpr Pass kLlama3Passes[] = {{Kind::pattern, kLlama3}};
constexpr Pass kMinicpm5Passes[] = {
    {Kind::pattern, kThreeNumbers},
    {Kind::pattern, CONTRACTION "|" WORD "|\\p{N}+|" SIGNS "[\\r\\n]*|" SPACES}};
constexpr Pass kJais2Passes[] = {{Kind::pattern, CONTRACTION
                                  "|" WORD "|\\p{N}{1,3}|" SIGNS
                                  "[\\r\\n]*|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|"
                                  "\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)|\\s{16}(?!\\S)|"
                                  "\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s"}};
constexpr Pass kQwen2Passes[] = {{Kind::pattern, kQwen2}};
constexpr Pass kQwen35Passes[] = {{Kind::pattern,
                                   CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}|"
                                               " ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" SPACES}};
constexpr Pass kUfakzekaPasses[] = {{Kind::pattern, WORD "|\\p{N}|" SIGNS "[\\r\\n]*|" SPACES}};
constexpr Pass kLagunaPasses[] = {{Kind::pattern, kLine}, {Kind::pattern, kQwen2}};
constexpr Pass kBailingPasses[] = {{Kind::pattern,
                                    "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|" WORD
                                    "|\\p{N}|" SIGNS "[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}};
constexpr Pass kSeedCoderPasses[] = {
    {Kind::pattern, CONTRACTION "|" WORD "|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" SPACES}};
constexpr Pass kExaoneMoePasses[] = {
    {Kind::pattern,
     CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}|" SIGNS
                 "[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}};
constexpr Pass kTekkenPasses[] = {{Kind::pattern, "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER
                                                  "+|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER
                                                  "*|\\p{N}|" SIGNS "[\\r\\n/]*|" SPACES}};
constexpr Pass kGpt4oPasses[] = {{Kind::pattern,
                                  "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" CONTRACTION
                                  "?|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*" CONTRACTION
                                  "?|\\p{N}{1,3}|" SIGNS "[\\r\\n/]*|" SPACES}};
constexpr Pass kGraniteEmbeddingPasses[] = {
    {Kind::pattern, "[^\\r\\n\\p{L}\\p{N}]?" UPPER_OR_MARK "*" LOWER_OR_MARK "+" CONTRACTION
                    "?|[^\\r\\n\\p{L}\\p{N}]?" UPPER_OR_MARK "+" LOWER_OR_MARK "*" CONTRACTION
                    "?|\\p{N}{1,3}|" SIGNS "[\\r\\n/]*|" SPACES}};
constexpr Pass kTinyAyaPasses[] = {
    {Kind::number_groups},
    {Kind::pattern, "[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+" CONTRACTION "?|\\p{N}{1,3}|" SIGNS
                    "[\\r\\n/]*|" SPACES}};
constexpr Pass kYoutuPasses[] = {
    {Kind::pattern,
     "[\\x{AC00}-\\x{D7A3}\\x{3131}-\\x{318E}]+|"
     "[\\x{FF01}\\x{2026}\\x{201C}\\x{201D}\\x{2018}\\x{2019}\\x{2014}\\x{FF1A}"
     "\\x{FF1B}\\x{FF0C}\\x{3001}-\\x{303F}\\x{FE30}-\\x{FE4F}]+|"
     "[\\x{3105}-\\x{312F}]+|" KANA_AND_HAN},
    {Kind::pattern,
     "[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+" CONTRACTION "?|\\p{N}|" SIGNS "[\\r\\n/]*|" SPACES}};
constexpr Pass kDeepseekLlmPasses[] = {
    {Kind::pattern, kLineBreak},
    {Kind::pattern, kDeepseekLetters},
    {Kind::pattern,
     "\\s?[!-/:-~\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF5E}\\x{2018}-\\x{201F}"
     "\\x{3000}-\\x{3002}]+"},
    {Kind::space_at_end},
    {Kind::pattern, kDeepseekHan},
    {Kind::pattern, kNumbers}};
constexpr Pass kDeepseekCoderPasses[] = {{Kind::pattern, kLineBreak},
                                         {Kind::pattern, "\\s?\\p{L}+"},
                                         {Kind::pattern, "\\s?\\p{P}+"},
                                         {Kind::pattern, kDeepseekHan},
                                         {Kind::pattern, kNumber}};
constexpr Pass kDeepseek3Passes[] = {
    {Kind::pattern, kThreeNumbers}, {Kind::pattern, KANA_AND_HAN}, {Kind::pattern, kDeepseek3}};
constexpr Pass kSparkPasses[] = {
    {Kind::pattern, kThreeNumbers},
    {Kind::pattern, KANA_AND_HAN},
    {Kind::pattern, ASCII_SIGN "[A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
                               " ?[\\p{P}\\p{S}]+|[\\r\\n]|\\s+(?!\\S)|\\s+"},
    {Kind::pattern, kNumber}};
constexpr Pass kAfmoePasses[] = {
    {Kind::number_groups},
    {Kind::pattern,
     "[\\x{4E00}-\\x{9FFF}\\x{3400}-\\x{4DBF}\\x{8C48}-\\x{FAFF}\\x{3040}-\\x{30FF}"
     "\\x{FF65}-\\x{FF9F}\\x{2F00}-\\x{2FDF}\\x{E40}-\\x{EFF}\\x{1780}-\\x{17FF}"
     "\\x{1000}-\\x{109F}\\x{AA60}-\\x{AA7F}\\x{A9E0}-\\x{A9FF}\\x{AC00}-\\x{D7AF}"
     "\\x{1100}-\\x{11FF}]+"},
    {Kind::pattern, kDeepseek3}};
constexpr Pass kPoroPasses[] = {{Kind::pattern, kPhrase}};
constexpr Pass kVikingPasses[] = {{Kind::pattern, kPhrase}, {Kind::pattern, kNumber}};
constexpr Pass kChameleonPasses[] = {
    {Kind::pattern, "<sentinel:[0-9]+>"},      {Kind::pattern, "IMGIMG[A-I]{1,4}Z"},
    {Kind::pattern, "[\\t\\n]|    |  "},       {Kind::pattern, kNumber},
    {Kind::pattern, "[\\p{P}!-/:-@\\[-`{-~]"}, {Kind::pattern, kGpt2}};
constexpr Pass kKimiPasses[] = {{Kind::pattern,
                                 "\\p{Han}+|[^\\r\\n\\p{L}\\p{N}]?\\p{LNotHan}+" CONTRACTION
                                 "?|\\p{N}{1,3}|" SIGNS "[\\r\\n]*|" SPACES}};
constexpr Pass kSuperbpePasses[] = {{Kind::pattern, kNumbers}, {Kind::digit_groups}};
constexpr Pass kLinePasses[] = {{Kind::pattern, kLine}};

constexpr PreTokenizerRule kRules[] = {
    {.name = "default", .passes = kDefaultPasses},
    {.name = "gpt-2", .passes = kGpt2Passes},
    {.name = "phi-2", .passes = kGpt2Passes},
    {.name = "jina-es", .passes = kGpt2Passes},
    {.name = "jina-de", .passes = kGpt2Passes},
    {.name = "jina-v1-en", .passes = kGpt2Passes},
    {.name = "jina-v2-es", .passes = kGpt2Passes},
    {.name = "jina-v2-de", .passes = kGpt2Passes},
    {.name = "jina-v2-code", .passes = kGpt2Passes},
    {.name = "roberta-bpe", .passes = kGpt2Passes},
    {.name = "gigachat", .passes = kGpt2Passes},
    {.name = "a.x-4.0", .passes = kGpt2Passes},
    {.name = "mellum", .passes = kGpt2Passes},
    {.name = "modern-bert", .passes = kGpt2Passes},
    {.name = "exaone4", .passes = kGpt2Passes},
    {.name = "mpt", .passes = kGpt2Passes},
    {.name = "olmo", .passes = kGpt2Passes},
    {.name = "jais", .passes = kGpt2Passes},
    {.name = "trillion", .passes = kGpt2Passes},
    {.name = "granite-docling", .passes = kGpt2Passes},
    {.name = "starcoder", .passes = kStarcoderPasses},
    {.name = "refact", .passes = kStarcoderPasses},
    {.name = "command-r", .passes = kStarcoderPasses},
    {.name = "smollm", .passes = kStarcoderPasses},
    {.name = "codeshell", .passes = kStarcoderPasses},
    {.name = "exaone", .passes = kStarcoderPasses},
    {.name = "minerva-7b", .passes = kStarcoderPasses},
    {.name = "mellum2", .passes = kStarcoderPasses},
    {.name = "falcon", .passes = kFalconPasses},
    {.name = "llama3", .passes = kLlama3Passes, .ignore_merges = true, .add_bos = true},
    {.name = "llama-v3", .passes = kLlama3Passes, .ignore_merges = true, .add_bos = true},
    {.name = "llama-bpe", .passes = kLlama3Passes, .ignore_merges = true, .add_bos = true},
    {.name = "falcon3", .passes = kLlama3Passes, .ignore_merges = true, .add_bos = true},
    {.name = "falcon-h1", .passes = kLlama3Passes, .ignore_merges = true, .add_bos = true},
    {.name = "pixtral", .passes = kLlama3Passes, .ignore_merges = true, .add_bos = true},
    {.name = "midm-2.0", .passes = kLlama3Passes, .ignore_merges = true, .add_bos = true},
    {.name = "lfm2", .passes = kLlama3Passes, .ignore_merges = true, .add_bos = true},
    {.name = "jina-v5-nano", .passes = kLlama3Passes, .ignore_merges = true, .add_bos = true},
    {.name = "dbrx", .passes = kLlama3Passes},
    {.name = "smaug-bpe", .passes = kLlama3Passes},
    {.name = "chatglm-bpe", .passes = kLlama3Passes, .has_bos = false},
    {.name = "glm4", .passes = kLlama3Passes, .ignore_merges = true, .has_bos = false},
    {.name = "glm5", .passes = kLlama3Passes, .ignore_merges = true, .has_bos = false},
    {.name = "minicpm5", .passes = kMinicpm5Passes, .ignore_merges = true},
    {.name = "jais-2", .passes = kJais2Passes},
    {.name = "qwen2", .passes = kQwen2Passes},
    {.name = "deepseek-r1-qwen", .passes = kQwen2Passes},
    {.name = "kormo", .passes = kQwen2Passes},
    {.name = "f2llmv2", .passes = kQwen2Passes},
    {.name = "megrez", .passes = kQwen2Passes},
    {.name = "stablelm2", .passes = kQwen2Passes},
    {.name = "hunyuan", .passes = kQwen2Passes},
    {.name = "solar-open", .passes = kQwen2Passes},
    {.name = "grok-2", .passes = kQwen2Passes},
    {.name = "qwen35", .passes = kQwen35Passes},
    {.name = "ufakzeka", .passes = kUfakzekaPasses},
    {.name = "laguna", .passes = kLagunaPasses},
    {.name = "bailingmoe", .passes = kBailingPasses},
    {.name = "bailingmoe2", .passes = kBailingPasses},
    {.name = "llada-moe", .passes = kBailingPasses},
    {.name = "seed-coder", .passes = kSeedCoderPasses},
    {.name = "exaone-moe", .passes = kExaoneMoePasses},
    {.name = "tekken", .passes = kTekkenPasses, .ignore_merges = true, .add_bos = true},
    {.name = "gpt-4o", .passes = kGpt4oPasses},
    {.name = "llama4", .passes = kGpt4oPasses},
    {.name = "kanana2", .passes = kGpt4oPasses},
    {.name = "talkie", .passes = kGpt4oPasses},
    {.name = "minimax-m2", .passes = kGpt4oPasses},
    {.name = "granite-embed-multi-97m", .passes = kGraniteEmbeddingPasses, .ignore_merges = true},
    {.name = "tiny_aya", .passes = kTinyAyaPasses},
    {.name = "cohere2moe", .passes = kTinyAyaPasses},
    {.name = "youtu", .passes = kYoutuPasses, .ignore_merges = true},
    {.name = "deepseek-llm", .passes = kDeepseekLlmPasses},
    {.name = "deepseek-coder", .passes = kDeepseekCoderPasses},
    {.name = "deepseek-v3", .passes = kDeepseek3Passes},
    {.name = "hunyuan-dense", .passes = kDeepseek3Passes},
    {.name = "joyai-llm", .passes = kDeepseek3Passes},
    {.name = "hy_v4", .passes = kDeepseek3Passes},
    {.name = "spark2_5", .passes = kSparkPasses},
    {.name = "afmoe", .passes = kAfmoePasses},
    {.name = "poro-chat", .passes = kPoroPasses},
    {.name = "bloom", .passes = kPoroPasses},
    {.name = "gpt3-finnish", .passes = kPoroPasses},
    {.name = "viking", .passes = kVikingPasses},
    {.name = "chameleon", .passes = kChameleonPasses, .add_bos = true},
    {.name = "kimi-k2", .passes = kKimiPasses, .merges_optional = true},
    {.name = "superbpe", .passes = kSuperbpePasses},
    {.name = "gemma4", .passes = kLinePasses, .add_bos = true, .raw_utf8 = true},
    {.name = "granite-embed-multi-311m", .passes = kLinePasses, .add_bos = true, .raw_utf8 = true},
    {.name = "sarvam-moe", .passes = kLinePasses, .raw_utf8 = true},
};

}  // namespace

const PreTokenizerRule* find_pre_tokenizer_rule(std::string_view name) {
  const auto* found = std::ranges::find(kRules, name, &PreTokenizerRule::name);
  return found == std::end(kRules) ? nullptr : found;
}

std::vector<std::string_view> pre_tokenizer_names() {
  std::vector<std::string_view> names;
  for (const PreTokenizerRule& rule : kRules) names.push_back(rule.name);
  return names;
}

}  // namespace hwtv::text
