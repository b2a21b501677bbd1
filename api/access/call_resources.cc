#include "api/access/call_resources.h"

#include <array>
#include <optional>

#include "absl/strings/str_format.h"

namespace berth::api {
namespace {

constexpr char kDefaultCluster[] = "default";
// Longer than any ARN can be; what is cut off belongs to no valid one.
constexpr size_t kArnBytesMax = 2048;

std::string Shortened(std::string text) {
  if (text.size() > kArnBytesMax) text.resize(kArnBytesMax);
  return text;
}

// An ARN of ours, of a kind that is not parsed further or could not be.
std::string Unparsed(const model::ArnScope& scope, std::string_view kind, std::string_view text) {
  if (text.starts_with("arn:")) return Shortened(std::string(text));
  return Shortened(absl::StrFormat("arn:%s:ecs:%s:%s:%s/%s", scope.partition, scope.region,
                                   scope.account, kind, text));
}

class Collector {
 public:
  Collector(JsonView input, const model::ArnScope& scope) : input_(input), scope_(scope) {
    const std::optional<std::string_view> text = Text("cluster");
    cluster_text_ = text && !text->empty() ? std::string(*text) : kDefaultCluster;
    if (auto cluster = model::ParseCluster(scope, cluster_text_); cluster.ok()) {
      cluster_ = *std::move(cluster);
    }
  }

  std::optional<std::string_view> Text(std::string_view member) const {
    const JsonView value = input_.Find(member);
    if (!value || value.shape().kind != schema::Kind::kString) return std::nullopt;
    return value.AsString();
  }
  // Each text of a list, or the one text.
  template <class Add>
  void ForEach(std::string_view member, Add add) const {
    const JsonView value = input_.Find(member);
    if (!value) return;
    if (value.shape().kind == schema::Kind::kString) {
      add(value.AsString());
    } else if (value.shape().kind == schema::Kind::kList) {
      for (int i = 0; i < value.size() && !full(); ++i) {
        if (value.At(i).shape().kind == schema::Kind::kString) add(value.At(i).AsString());
      }
    }
  }

  std::string Cluster(std::string_view text) const {
    const auto cluster = model::ParseCluster(scope_, text);
    return cluster.ok() ? model::ClusterArn(scope_, *cluster) : Unparsed(scope_, "cluster", text);
  }
  std::string Task(std::string_view text) const {
    if (cluster_) {
      if (auto task = model::ParseTask(scope_, *cluster_, text); task.ok()) {
        return model::TaskArn(scope_, *cluster_, *task);
      }
    }
    return InCluster("task", text);
  }
  std::string Instance(std::string_view text) const {
    if (cluster_) {
      if (auto instance = model::ParseInstance(scope_, *cluster_, text); instance.ok()) {
        return model::InstanceArn(scope_, *cluster_, *instance);
      }
    }
    return InCluster("container-instance", text);
  }
  std::string Service(std::string_view text) const { return InCluster("service", text); }
  std::string Provider(std::string_view text) const {
    return Unparsed(scope_, "capacity-provider", text);
  }
  CallResource Definition(std::string_view text) const {
    const auto ref = model::ParseDefinition(scope_, text);
    if (!ref.ok()) return {.arn = Unparsed(scope_, "task-definition", text)};
    if (ref->revision) {
      return {.arn = model::TaskDefinitionArn(scope_,
                                              {.family = ref->family, .revision = *ref->revision})};
    }
    return Family(ref->family);
  }
  CallResource Family(std::string_view family) const {
    return {.arn = Unparsed(scope_, "task-definition", std::string(family) + ":*"), .open = true};
  }
  // Of any kind that can carry tags.
  CallResource Tagged(std::string_view text) const;

  void Add(std::string arn) { Add(CallResource{.arn = std::move(arn)}); }
  void Add(CallResource resource) { found_.push_back(std::move(resource)); }
  void AddCluster() {
    Add(cluster_ ? model::ClusterArn(scope_, *cluster_) : Cluster(cluster_text_));
  }

  static bool NamesProvider(std::string_view action) {
    return action.ends_with("CapacityProvider") || action.ends_with("CapacityProviders");
  }
  bool full() const { return found_.size() > kCallResourcesMax; }
  std::vector<CallResource>& found() { return found_; }

 private:
  std::string InCluster(std::string_view kind, std::string_view text) const {
    if (text.starts_with("arn:")) return Unparsed(scope_, kind, text);
    const std::string& cluster = cluster_ ? cluster_->value : cluster_text_;
    return Unparsed(scope_, kind, cluster + "/" + std::string(text));
  }

  JsonView input_;
  const model::ArnScope& scope_;
  std::string cluster_text_;
  std::optional<model::ClusterName> cluster_;  // nothing when it cannot be read
  std::vector<CallResource> found_;
};

CallResource Collector::Tagged(std::string_view text) const {
  const std::optional<model::Arn> arn = model::ParseArn(text);
  if (!arn) return {.arn = Unparsed(scope_, "cluster", text)};
  const std::string& resource = arn->resource;
  const size_t slash = resource.find('/');
  const std::string kind = resource.substr(0, slash);
  if (kind == "cluster") return {.arn = Cluster(text)};
  if (kind == "task-definition") return Definition(text);
  const size_t second = slash == std::string::npos ? slash : resource.find('/', slash + 1);
  if (second != std::string::npos) {
    const model::ClusterName cluster{resource.substr(slash + 1, second - slash - 1)};
    if (kind == "task") {
      if (auto task = model::ParseTask(scope_, cluster, text); task.ok()) {
        return {.arn = model::TaskArn(scope_, cluster, *task)};
      }
    }
    if (kind == "container-instance") {
      if (auto instance = model::ParseInstance(scope_, cluster, text); instance.ok()) {
        return {.arn = model::InstanceArn(scope_, cluster, *instance)};
      }
    }
  }
  return {.arn = Unparsed(scope_, kind, text)};
}

// Members that name what an action of a later version is about, as an ARN already.
constexpr std::array<std::string_view, 9> kArnMembers = {
    "serviceArn", "serviceArns", "serviceDeploymentArn", "serviceDeploymentArns",
    "daemonArn",  "daemonArns",  "serviceRevisionArns",  "daemonDeploymentArns",
    "gatewayArn",
};

}  // namespace

std::vector<CallResource> ResourcesOf(std::string_view action, JsonView input,
                                      const model::ArnScope& scope) {
  Collector collector(input, scope);
  const auto add_all = [&](std::string_view member, auto arn_of) {
    collector.ForEach(member, [&](std::string_view text) { collector.Add(arn_of(text)); });
  };
  const auto task = [&](std::string_view text) { return collector.Task(text); };
  const auto instance = [&](std::string_view text) { return collector.Instance(text); };
  const auto service = [&](std::string_view text) { return collector.Service(text); };
  const auto definition = [&](std::string_view text) { return collector.Definition(text); };
  const auto provider = [&](std::string_view text) { return collector.Provider(text); };

  for (const char* member : {"task", "tasks"}) add_all(member, task);
  for (const char* member : {"containerInstance", "containerInstances", "containerInstanceArn"}) {
    add_all(member, instance);
  }
  for (const char* member : {"service", "services", "serviceName"}) add_all(member, service);
  if (const JsonView attributes = input.Find("attributes");
      attributes && action != "RegisterContainerInstance") {
    for (int i = 0; i < attributes.size() && !collector.full(); ++i) {
      if (const JsonView target = attributes.At(i).Find("targetId")) {
        collector.Add(collector.Instance(target.AsString()));
      }
    }
  }
  // These ARNs name their cluster.
  const bool names_cluster = !collector.found().empty();

  for (const char* member : {"taskDefinition", "taskDefinitions"}) add_all(member, definition);
  if (action == "RegisterTaskDefinition") {
    if (const auto family = collector.Text("family")) collector.Add(collector.Family(*family));
  }
  for (const char* member : {"capacityProvider", "capacityProviders"}) add_all(member, provider);
  if (action == "CreateCapacityProvider") add_all("name", provider);
  if (action == "CreateCluster") {
    const auto name = collector.Text("clusterName");
    collector.Add(collector.Cluster(name && !name->empty() ? *name : kDefaultCluster));
  }
  if (action == "DescribeClusters") {
    add_all("clusters", [&](std::string_view text) { return collector.Cluster(text); });
    if (collector.found().empty()) collector.Add(collector.Cluster(kDefaultCluster));
  }
  collector.ForEach("resourceArn",
                    [&](std::string_view text) { collector.Add(collector.Tagged(text)); });
  for (const std::string_view member : kArnMembers) {
    add_all(member, [](std::string_view text) { return Shortened(std::string(text)); });
  }
  // Capacity providers belong to no cluster unless one is named.
  const bool needs_cluster = !collector.NamesProvider(action) || collector.Text("cluster");
  if (schema::FindMember(input.shape(), "cluster") != nullptr && !names_cluster && needs_cluster) {
    collector.AddCluster();
  }
  if (collector.found().empty()) collector.Add("*");
  return std::move(collector.found());
}

}  // namespace berth::api
