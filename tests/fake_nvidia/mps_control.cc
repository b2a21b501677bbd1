// nvidia-cuda-mps-control as far as the agent can tell: front end and control daemon, with the
// answers, statuses and traps that the real one has (gpu-sharing.md section 2, TRIED). No GPU, no
// server: which servers and clients it has is told by files.
//
// Files in `fake` beside the pipe directory change what it does; each is looked at when it matters:
//   no-multiuser   the flag is unknown        crash-at-start  the daemon ends at once
//   empty-answer   status 0 and no text       garbage         status 0 and no number
//   slow           milliseconds before each answer
//   clients        lines "SERVER CLIENT..."
// It writes there: environ-NAME, starts-NAME (a line each), commands-NAME, where NAME is the pipe
// directory's.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr char kNobodyThere[] = "Cannot find MPS control daemon process";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path PipeDirectory() {
  const std::string named = Variable("CUDA_MPS_PIPE_DIRECTORY");
  return named.empty() ? "/tmp/nvidia-mps" : named;
}
fs::path Told(const std::string& name) { return PipeDirectory().parent_path() / "fake" / name; }
bool IsTold(const std::string& name) { return fs::exists(Told(name)); }
fs::path Note(const std::string& kind) {
  return Told(kind + "-" + PipeDirectory().filename().string());
}

std::string TextOf(const fs::path& path) {
  std::ifstream file(path);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

bool AddressOf(const char* socket_name, sockaddr_un& address) {
  const std::string path = PipeDirectory() / socket_name;
  if (path.size() >= sizeof(address.sun_path)) return false;
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return true;
}

// One line to the daemon, one answer until it closes.
bool Exchange(const std::string& line, std::string& answer) {
  sockaddr_un address;
  const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (!AddressOf("control", address) ||
      ::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    return false;
  }
  const std::string sent = line + "\n";
  if (::send(connection, sent.data(), sent.size(), MSG_NOSIGNAL) < 0) return false;
  char piece[512];
  ssize_t n = 0;
  while ((n = ::read(connection, piece, sizeof(piece))) > 0) {
    answer.append(piece, static_cast<size_t>(n));
  }
  ::close(connection);
  return true;
}

int FrontEnd() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::string answer;
    if (!Exchange(line, answer)) {
      std::cout << kNobodyThere << "\n";
      return 1;
    }
    std::cout << answer << std::flush;
  }
  return 0;
}

class Daemon {
 public:
  int Run() {
    const fs::path directory = PipeDirectory();
    if (::mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST) {
      std::cout << "Cannot access CUDA_MPS_PIPE_DIRECTORY=" << directory.string() << std::endl;
      return 1;
    }
    const int lock =
        ::open((directory / "control_lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
      std::cout << "An instance of this daemon is already running" << std::endl;
      return 1;
    }
    if (IsTold("crash-at-start")) return 1;
    if (Listen("control_privileged", 0755) < 0) return 1;
    const int listener = Listen("control", 0666);
    if (listener < 0) return 1;
    ::mkfifo((directory / "log").c_str(), 0666);
    std::ofstream(directory / "nvidia-cuda-mps-control.pid") << ::getpid() << "\n";
    WriteNotes();
    while (!quit_) Serve(listener);
    fs::remove(directory / "nvidia-cuda-mps-control.pid");
    fs::remove(directory / "log");
    return 0;
  }

 private:
  static int Listen(const char* name, mode_t mode) {
    sockaddr_un address;
    if (!AddressOf(name, address)) return -1;
    ::unlink(address.sun_path);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return -1;
    ::chmod(address.sun_path, mode);
    return ::listen(listener, 16) == 0 ? listener : -1;
  }

  static void WriteNotes() {
    std::ofstream environment(Note("environ"));
    for (char** entry = environ; *entry != nullptr; ++entry) environment << *entry << "\n";
    std::ofstream(Note("starts"), std::ios::app) << ::getpid() << "\n";
  }

  void Serve(int listener) {
    const int connection = ::accept(listener, nullptr, nullptr);
    if (connection < 0) return;
    std::string line;
    char c = 0;
    while (::read(connection, &c, 1) == 1 && c != '\n') line.push_back(c);
    if (IsTold("slow")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(TextOf(Told("slow")))));
    }
    std::ofstream(Note("commands"), std::ios::app) << line << std::endl;
    const std::string answer = Answer(line);
    if (!answer.empty()) ::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
    ::close(connection);
  }

  std::string Answer(const std::string& line) {
    if (IsTold("empty-answer")) return "";
    if (IsTold("garbage")) return "Unknown command \"" + line + "\"\n";
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "get_default_active_thread_percentage") return "100.0\n";
    if (command == "set_default_device_pinned_mem_limit") return "";
    if (command == "get_server_list") return Servers();
    if (command == "get_client_list") {
      std::string server;
      words >> server;
      return Clients(server);
    }
    if (command == "terminate_client") {
      std::string server;
      std::string client;
      words >> server >> client;
      if (Clients(server).find("not found") != std::string::npos) return Clients(server);
      return "0\n";
    }
    if (command == "quit") {
      quit_ = true;
      return "";
    }
    return "Unknown command \"" + line + "\"\n";
  }

  static std::string Servers() {
    std::istringstream lines(TextOf(Told("clients")));
    std::string line;
    std::string all;
    while (std::getline(lines, line)) all += line.substr(0, line.find(' ')) + "\n";
    return all;
  }
  static std::string Clients(const std::string& server) {
    std::istringstream lines(TextOf(Told("clients")));
    std::string line;
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      if (word != server) continue;
      std::string clients;
      while (words >> word) clients += word + "\n";
      return clients;
    }
    return "Server " + server + " not found\n";
  }

  bool quit_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  bool foreground = false;
  bool background = false;
  bool known = true;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "-f") {
      foreground = true;
    } else if (argument == "-d") {
      background = true;
    } else if (argument != "-multiuser-server" || IsTold("no-multiuser")) {
      known = false;
    }
  }
  // An argument that it does not know makes the real one the front end, whatever stands beside it.
  if (!known) {
    std::string ignored;
    if (!Exchange("", ignored)) {
      std::cout << kNobodyThere << std::endl;
      return 1;
    }
    return FrontEnd();
  }
  if (!foreground && !background) return FrontEnd();
  if (background && ::fork() != 0) return 0;
  return Daemon().Run();
}
