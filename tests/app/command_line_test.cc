#include "app/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/commands.h"
#include "app/exit_code.h"
#include "base/nearest.h"

namespace hwtv::app {
namespace {

const std::vector<std::string> kFlags = {"--threads", "--temp", "--top-k", "--top-p", "--help"};

TEST(Nearest, FindsWhatWasMeant) {
  EXPECT_EQ(nearest("--thread", kFlags), "--threads");
  EXPECT_EQ(nearest("--treads", kFlags), "--threads");
  EXPECT_EQ(nearest("--tpo-k", kFlags), "--top-k");
  EXPECT_EQ(nearest("--top-p", kFlags), "--top-p");
}

TEST(Choices, AreTakenAsTheTableWritesThem) {
  std::string mode = "auto";
  std::vector<Command> commands(1);
  commands[0].name = "one";
  commands[0].options = {{"--mode", "MODE", "how", &mode, {"auto", "off"}}};
  commands[0].run = [] { return kExitOk; };
  std::string words[] = {"hwtv", "one", "--mode", "OFF"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  EXPECT_EQ(run_command_line(commands, static_cast<int>(argv.size()), argv.data()), kExitOk);
  EXPECT_EQ(mode, "off");
}

TEST(Nearest, SuggestsNothingThatIsFar) {
  EXPECT_EQ(nearest("--colour", kFlags), "");
  EXPECT_EQ(nearest("xyz", kFlags), "");
  EXPECT_EQ(nearest("--threads", {}), "");
}

// A command with a flag of each kind; run() keeps what it was given.
struct Fixture {
  std::string model, other = "none";
  bool flag = false;
  int64_t n = 7;
  double share = 0;
  std::vector<std::string> many;
  std::optional<std::string> text;
  int n_runs = 0;
  Result<int> result = kExitOk;
  std::vector<Command> commands = std::vector<Command>(1);

  Fixture() {
    Command& command = commands[0];
    command.name = "try";
    command.summary = "Try it";
    command.example = "hwtv try x";
    command.positionals = {{"MODEL", "a file", &model}, {"OTHER", "another", &other, false}};
    command.options = {{"-f,--flag", "", "a switch", &flag},
                       {"-n,--number", "N", "a number", &n},
                       {"--share", "S", "a share", &share},
                       {"--many", "TEXT", "several", &many},
                       {"--text", "TEXT", "a text", &text},
                       {"--kind", "KIND", "a choice", &other, {"one", "two"}}};
    command.run = [this] {
      ++n_runs;
      return result;
    };
  }

  int run(std::vector<std::string> words) {
    words.insert(words.begin(), "hwtv");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return run_command_line(commands, static_cast<int>(argv.size()), argv.data());
  }
};

TEST(CommandLine, FillsEveryKindOfTarget) {
  Fixture fixture;
  EXPECT_EQ(fixture.run({"try", "m", "-f", "--number=3", "--share", "0.5", "--many", "a", "--many",
                         "b", "--text", "-x"}),
            kExitOk);
  EXPECT_EQ(fixture.n_runs, 1);
  EXPECT_EQ(fixture.model, "m");
  EXPECT_EQ(fixture.other, "none");
  EXPECT_TRUE(fixture.flag);
  EXPECT_EQ(fixture.n, 3);
  EXPECT_EQ(fixture.share, 0.5);
  EXPECT_EQ(fixture.many, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(fixture.text, "-x");
}

TEST(CommandLine, TheLastOfARepeatedFlagCounts) {
  Fixture fixture;
  EXPECT_EQ(fixture.run({"try", "m", "-n", "1", "-n", "2"}), kExitOk);
  EXPECT_EQ(fixture.n, 2);
}

TEST(CommandLine, WrongWordsRunNothing) {
  const int wrong = exit_code(ErrorCode::invalid_request);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"tyr"}, {"try"}, {"try", "m", "--flog"}, {"try", "m", "-n"},
        {"try", "m", "-n", "x"}, {"try", "m", "--kind", "three"}, {"try", "a", "b", "c"}}) {
    Fixture fixture;
    testing::internal::CaptureStderr();
    EXPECT_EQ(fixture.run(words), wrong);
    const std::string errors = testing::internal::GetCapturedStderr();
    EXPECT_EQ(fixture.n_runs, 0);
    if (words.empty()) continue;  // shows the help instead
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 2) << errors;
  }
}

TEST(CommandLine, SuggestsCommandsAndFlags) {
  Fixture fixture;
  testing::internal::CaptureStderr();
  fixture.run({"tyr", "m"});
  fixture.run({"try", "m", "--flog"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "hwtv: hwtv has no command 'tyr'\n      did you mean try?\n"
            "hwtv: hwtv try has no flag --flog\n      did you mean --flag?\n");
}

TEST(CommandLine, AnErrorBecomesItsExitCode) {
  Fixture fixture;
  fixture.result = fail(ErrorCode::corrupt_file, "broken", "mend it");
  testing::internal::CaptureStderr();
  EXPECT_EQ(fixture.run({"try", "m"}), 4);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "hwtv: broken\n      mend it\n");
}

TEST(CommandLine, EachErrorHasAnExitCodeOfItsOwn) {
  EXPECT_EQ(exit_code(ErrorCode::invalid_request), 2);
  EXPECT_EQ(exit_code(ErrorCode::unsupported), 3);
  EXPECT_EQ(exit_code(ErrorCode::corrupt_file), 4);
  EXPECT_EQ(exit_code(ErrorCode::io), 5);
  EXPECT_EQ(exit_code(ErrorCode::out_of_memory), 6);
  EXPECT_EQ(exit_code(ErrorCode::device_lost), 7);
  EXPECT_EQ(exit_code(ErrorCode::cancelled), 130);
}

TEST(Commands, TablesAreWhole) {
  for (const Command& command : all_commands()) {
    EXPECT_FALSE(command.summary.empty()) << command.name;
    EXPECT_NE(command.example.find("hwtv " + command.name), std::string::npos) << command.name;
    for (const Option& option : command.options) {
      EXPECT_FALSE(option.help.empty()) << command.name << " " << option.flags;
      EXPECT_EQ(std::holds_alternative<bool*>(option.target), option.value_name.empty())
          << command.name << " " << option.flags;
    }
  }
}

}  // namespace
}  // namespace hwtv::app
