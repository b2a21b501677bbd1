// An agent's end of the channel, for tests: it says what it is told to say.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <rapidjson/document.h>

namespace berth::api {

class AgentPeer {
 public:
  AgentPeer();
  ~AgentPeer();

  // 101, or the status of the refusal.
  int Connect(uint16_t port, const std::string& query, const std::string& more_headers = "");
  // As the agent of that instance, which must be accepted.
  static std::unique_ptr<AgentPeer> Of(uint16_t port, const std::string& instance_arn);
  const std::string& refusal() const;

  // The next message, heartbeats left out unless they are asked for; a Null when the channel ended.
  rapidjson::Document Receive(bool heartbeats = false);
  // The next of that type, others dropped.
  rapidjson::Document ReceiveType(const std::string& type);
  // Whether nothing comes for a short while.
  bool IsQuiet();
  void Send(const std::string& text);
  // {"type":TYPE,"message":{"messageId":ID,MORE}}
  void Say(const std::string& type, const std::string& message_id, const std::string& more = "");
  // Acknowledges the message.
  void Acknowledge(const rapidjson::Document& message);

  // How the channel ended: the close code, 0 when there was no closing handshake. Reads on until
  // then.
  int AwaitClose();
  std::string close_reason() const;
  // Breaks the connection without a word.
  void Vanish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::api
