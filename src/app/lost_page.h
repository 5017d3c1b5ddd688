// A mapped file that becomes shorter while it is in use, or whose disk fails: reading the page that
// is lost would kill the program without a word.
#pragma once

namespace hwtv::app {

// From here on such a read ends the program with one error that names the file, and io's exit code.
void report_lost_pages();

}  // namespace hwtv::app
