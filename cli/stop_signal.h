// SIGINT and SIGTERM as something to wait for.
//
// Make it before any thread is started: it blocks both signals in the calling thread and in all
// that come from it, and takes them from a descriptor instead.
#pragma once

namespace berth::cli {

class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // True when a signal came: from then on a second one ends the process at once. False after
  // Cancel.
  bool Wait();

  // From any thread: nobody needs to wait any longer.
  void Cancel();

 private:
  int signals_ = -1;
  int cancelled_ = -1;
};

}  // namespace berth::cli
