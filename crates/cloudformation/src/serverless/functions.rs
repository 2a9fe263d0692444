//! Compiles `functions`, including their events.
//! <https://github.com/serverless/serverless/blob/v3/lib/plugins/aws/package/compile/functions.js>

use super::resolve::Resolver;
use super::{Compiled, Timeout, events, lift, list, mapping, names, renamed, resource, set, text, unresolved_reason};
use rustc_hash::FxHashSet;
use source::Span;
use std::sync::Arc;
use trees::{Entry, Node, Value};

/// Settings of the service that apply to every function.
pub(super) struct Service {
    /// `service`, with variables if it is unresolved.
    name: String,
    stage: String,
    /// The name of the stack.
    pub(super) stack: String,
    /// `provider.timeout`, with its span.
    timeout: Option<(Node, Span)>,
    /// The role of functions that set none, unless the framework generates it.
    role: Option<Entry>,
    /// `true` if the framework generates the role of functions that set none.
    has_default_role: bool,
    /// `provider.tags`.
    tags: Option<Node>,
    /// `provider.environment`.
    environment: Option<Node>,
    /// Values in the provider of the keys in [`INHERITED`].
    inherited: [Option<Node>; INHERITED.len()],
    /// The keys of all functions, which destinations may name.
    keys: FxHashSet<Arc<str>>,
}

/// Keys that a function takes from the provider if it does not set them, with their properties.
const INHERITED: [(&str, &str); 4] = [
    ("runtime", "Runtime"),
    ("memorySize", "MemorySize"),
    ("architecture", "Architectures"),
    ("layers", "Layers"),
];
/// The framework's default memory in MB.
const MEMORY: i64 = 1024;

/// Compiles the functions of the service in `document`.
pub(super) fn compile(resolver: &mut Resolver<'_>, document: &Node) -> Compiled {
    let mut compiled = Compiled::default();
    let provider = resolver
        .text(&["provider", "name"])
        .or_else(|| resolver.text(&["provider"]));
    if let Some((name, _)) = provider.filter(|(name, _)| name != "aws") {
        compiled.notes.push(format!("its provider is `{name}`, not AWS"));
        return compiled;
    }
    let queues = lift::constructs(resolver, document);
    let mut functions = functions(resolver, document, &mut compiled.notes);
    let name = resolver
        .text(&["service"])
        .or_else(|| resolver.text(&["service", "name"]))
        .map(|(name, _)| name);
    let unnamed = document.get("service").and_then(Node::as_str).unwrap_or("service");
    let name = name.unwrap_or_else(|| unnamed.to_owned());
    let stage = resolver.stage().0;
    let stack = resolver.text(&["provider", "stackName"]).map(|(name, _)| name);
    let service = Service {
        stack: stack.unwrap_or_else(|| format!("{name}-{stage}")),
        name,
        stage,
        timeout: provided(resolver, document, "timeout").filter(|(value, _)| is_truthy(value)),
        tags: provided(resolver, document, "tags").map(|(value, _)| value),
        environment: provided(resolver, document, "environment").map(|(value, _)| value),
        inherited: INHERITED.map(|(key, _)| {
            let value = provided(resolver, document, key).map(|(value, _)| value);
            value.filter(is_truthy)
        }),
        role: role(resolver, document),
        has_default_role: has_default_role(resolver, document, &functions),
        keys: functions.iter().map(|entry| entry.key.clone()).collect(),
    };
    lift::compile(&queues, &service, &mut functions, resolver, &mut compiled);
    for entry in &functions {
        service.function(entry, &mut compiled);
    }
    machines(resolver, &mut compiled);
    if service.has_default_role {
        let role = default_role(resolver, document, &compiled);
        compiled.put(role);
    }
    compiled
}

/// Compiles the state machines of the plugin `serverless-step-functions`. One without a role gets a role with the
/// permissions that its tasks need.
/// <https://github.com/serverless-operations/serverless-step-functions/blob/master/lib/deploy/stepFunctions/compileStateMachines.js>
fn machines(resolver: &mut Resolver<'_>, compiled: &mut Compiled) {
    let has_plugin = super::plugins(resolver)
        .iter()
        .any(|name| name.contains("serverless-step-functions"));
    let machines = resolver
        .section(&["stepFunctions", "stateMachines"])
        .filter(|_| has_plugin);
    for machine in machines.iter().filter_map(Node::entries).flatten() {
        let names = [
            ("definition", "Definition"),
            ("role", "RoleArn"),
            ("type", "StateMachineType"),
        ];
        let properties = names.iter().filter_map(|(key, property)| {
            let written = machine.value.entry(key)?;
            Some(Entry::new(*property, written.key_span, written.value.clone()))
        });
        let id = format!("{}StepFunctionsStateMachine", names::normalized(&machine.key));
        let kind = "AWS::StepFunctions::StateMachine";
        compiled.put(resource(id, kind, machine.key_span, properties.collect()));
    }
}

/// Id of the role that the framework generates.
const DEFAULT_ROLE: &str = "IamRoleLambdaExecution";

/// Returns `true` if the framework generates a role for functions that set none, and nothing changes how.
fn has_default_role(resolver: &mut Resolver<'_>, document: &Node, functions: &[Entry]) -> bool {
    let replaces = |name: &String| name.contains("iam-roles-per-function");
    let has_own = |function: &Entry| {
        let keys = function.value.entries().unwrap_or_default();
        keys.iter().any(|entry| entry.key.starts_with("iamRole"))
    };
    document
        .get("provider")
        .is_some_and(|provider| provider.entries().is_some())
        && role(resolver, document).is_none()
        && !super::plugins(resolver).iter().any(replaces)
        && !functions.iter().any(has_own)
}

/// Returns the role that the framework generates: with the statements and policies of the provider, and those for the
/// queues that functions poll.
/// <https://github.com/serverless/serverless/blob/v3/lib/plugins/aws/package/lib/merge-iam-templates.js>
fn default_role(resolver: &mut Resolver<'_>, document: &Node, compiled: &Compiled) -> Entry {
    let at = document
        .entry("provider")
        .map_or(document.span, |provider| provider.key_span);
    let mut of_provider = |paths: [&[&str]; 2]| {
        let found = paths.into_iter().find_map(|path| {
            let written = || path.iter().try_fold(document, |node, key| node.get(key)).cloned();
            resolver.section(path).or_else(written)
        });
        match found.map(|node| (node.span, node.value)) {
            Some((_, Value::Sequence(items))) => items,
            Some((span, value)) => vec![Node { span, value }],
            None => Vec::new(),
        }
    };
    let mut statements = of_provider([
        &["provider", "iam", "role", "statements"],
        &["provider", "iamRoleStatements"],
    ]);
    let managed = of_provider([
        &["provider", "iam", "role", "managedPolicies"],
        &["provider", "iamManagedPolicies"],
    ]);
    let polled = compiled
        .resources
        .iter()
        .filter(|resource| resource.key.contains("EventSourceMappingSQS"));
    let sources = polled.filter_map(|mapping| mapping.value.get("Properties")?.get("EventSourceArn"));
    let actions = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];
    statements.extend(sources.map(|source| {
        let actions = list(at, actions.map(|action| text(at, action)).into());
        let parts = vec![
            set("Effect", text(at, "Allow")),
            set("Action", actions),
            set("Resource", source.clone()),
        ];
        mapping(at, parts)
    }));
    let document = mapping(at, vec![set("Statement", list(at, statements))]);
    let policy = mapping(
        at,
        vec![
            set("PolicyName", text(at, "dev-lambda")),
            set("PolicyDocument", document),
        ],
    );
    let properties = vec![
        set("Policies", list(at, vec![policy])),
        set("ManagedPolicyArns", list(at, managed)),
    ];
    resource(DEFAULT_ROLE, "AWS::IAM::Role", at, properties)
}

/// Returns the value of `key` in the provider, with its span. If the whole provider is unresolved, so is the value.
fn provided(resolver: &mut Resolver<'_>, document: &Node, key: &str) -> Option<(Node, Span)> {
    let provider = document.entry("provider")?;
    let written = provider.value.entry(key);
    let place = written.unwrap_or(provider).span();
    if let Some(value) = resolver.section(&["provider", key]) {
        return Some((value, place));
    }
    let is_open = |node: &&Node| node.as_str().is_some_and(|text| unresolved_reason(text).is_some());
    let written = written.map(|entry| entry.value.clone());
    written
        .or_else(|| {
            let whole = resolver.section(&["provider"]);
            let whole = whole.as_ref().unwrap_or(&provider.value);
            Some(whole).filter(is_open).cloned()
        })
        .map(|value| (value, place))
}

/// Returns every function: `functions` is an object, or a list of objects that are merged.
fn functions(resolver: &mut Resolver<'_>, document: &Node, notes: &mut Vec<String>) -> Vec<Entry> {
    let Some(written) = document.get("functions") else {
        return Vec::new();
    };
    let found = resolver.section(&["functions"]).unwrap_or_else(|| written.clone());
    let parts = match found.value {
        Value::Sequence(items) => items,
        value => vec![Node { value, ..found }],
    };
    let mut all = Vec::new();
    for part in parts {
        match part.value {
            Value::Mapping(entries) => all.extend(entries),
            Value::String(text) => {
                let reason = unresolved_reason(&text);
                notes.extend(reason.map(|reason| format!("some of its functions are not read: {reason}")));
            }
            _ => {}
        }
    }
    for entry in &all {
        if let Some(reason) = entry.value.as_str().and_then(unresolved_reason) {
            notes.push(format!("its function `{}` is not read: {reason}", entry.key));
        }
    }
    all.retain(|entry| matches!(entry.value.value, Value::Mapping(_)));
    all
}

impl Service {
    fn function(&self, entry: &Entry, compiled: &mut Compiled) {
        let (key, header, function) = (&entry.key, entry.key_span, &entry.value);
        let id: Arc<str> = names::function(key).into();
        let own = |name: &str| function.entry(name).filter(|entry| is_truthy(&entry.value));
        let name = own("name").map(|name| renamed("FunctionName", name));
        let made_name = || {
            set(
                "FunctionName",
                text(header, format!("{}-{}-{key}", self.name, self.stage)),
            )
        };
        let name = name.unwrap_or_else(made_name);
        let called = name.value.as_str().unwrap_or_default().to_owned();
        let mut properties = vec![name];
        if let Some(role) = own("role").or(self.role.as_ref()) {
            properties.push(Entry::new("Role", role.key_span, role_of(&role.value)));
        } else if self.has_default_role {
            properties.push(Entry::new("Role", header, arn_of(DEFAULT_ROLE, header)));
        }
        let timeout = match (own("timeout"), &self.timeout) {
            (Some(timeout), _) => {
                properties.push(renamed("Timeout", timeout));
                Timeout::Own
            }
            (None, Some((value, place))) => {
                properties.push(set("Timeout", value.clone()));
                Timeout::Provider(*place)
            }
            (None, None) => Timeout::Default,
        };
        properties.extend(merged("Tags", own("tags"), self.tags.as_ref()));
        let environment = merged("Variables", own("environment"), self.environment.as_ref());
        properties.extend(environment.map(|variables| set("Environment", mapping(variables.span(), vec![variables]))));
        properties.extend(self.inherited(header, own));
        let reserved = function.entry("reservedConcurrency");
        properties.extend(reserved.map(|entry| renamed("ReservedConcurrentExecutions", entry)));
        if let Some(target) = own("onError") {
            let config = mapping(target.value.span, vec![renamed("TargetArn", target)]);
            properties.push(set("DeadLetterConfig", config));
        }
        // The framework packages the whole service, unless `artifact` names a prebuilt archive. A plugin for Python
        // packages the directory `module`.
        let artifact = function.get("package").and_then(|package| package.entry("artifact"));
        if let Some(handler) = own("handler") {
            properties.push(renamed("Handler", handler));
            let code = artifact.or_else(|| own("module"));
            properties.push(code.map_or_else(|| set("Code", text(header, ".")), |code| renamed("Code", code)));
        }
        let mut made = resource(id.clone(), "AWS::Lambda::Function", header, properties);
        if let Value::Mapping(attributes) = &mut made.value.value {
            for (key, attribute) in [("condition", "Condition"), ("dependsOn", "DependsOn")] {
                attributes.extend(own(key).map(|entry| renamed(attribute, entry)));
            }
        }
        compiled.put(made);
        compiled.timeouts.insert(id.clone(), (header, timeout));
        let label = || format!("`{}`", entry.key);
        compiled.labels.entry(id.clone()).or_insert_with(label);
        if let Some(config) = self.invoke_config(entry, &id) {
            compiled.put(config);
        }
        events::compile(entry, &id, &called, compiled);
    }

    /// Returns the properties that a function has by itself, from its provider or by default.
    fn inherited<'f>(&self, header: Span, own: impl Fn(&str) -> Option<&'f Entry>) -> Vec<Entry> {
        let all = INHERITED.into_iter().zip(&self.inherited);
        let written = all.filter_map(|((key, property), shared)| {
            let default = || match key {
                // The default depends on the version of the framework.
                "runtime" => own("image").is_none().then(|| text(header, "${sls:runtime}")),
                "memorySize" => Some(Node::new(header, Value::Integer(MEMORY))),
                _ => None,
            };
            let other = || shared.clone().or_else(default).map(|value| set(property, value));
            own(key).map(|entry| renamed(property, entry)).or_else(other)
        });
        written.collect()
    }

    /// Compiles `destinations` and `maximumRetryAttempts`.
    fn invoke_config(&self, entry: &Entry, id: &Arc<str>) -> Option<Entry> {
        let (header, function) = (entry.key_span, &entry.value);
        let destinations = function.get("destinations");
        let retries = function.entry("maximumRetryAttempts");
        if destinations.is_none() && retries.is_none() {
            return None;
        }
        let function_name = mapping(header, vec![set("Ref", text(header, id.clone()))]);
        let mut properties = vec![set("FunctionName", function_name)];
        let kinds = [("OnFailure", "onFailure"), ("OnSuccess", "onSuccess")].into_iter();
        let written = kinds.filter_map(|(key, own)| {
            let written = destinations?.entry(own)?;
            let target = set("Destination", self.destination(&written.value));
            Some(set(key, mapping(written.span(), vec![target])))
        });
        let config: Vec<Entry> = written.collect();
        if let (Some(first), Some(last)) = (config.first(), config.last()) {
            let span = first.value.span.to(last.value.span);
            properties.push(set("DestinationConfig", mapping(span, config)));
        }
        properties.extend(retries.map(|entry| renamed("MaximumRetryAttempts", entry)));
        let kind = "AWS::Lambda::EventInvokeConfig";
        Some(resource(names::invoke_config(&entry.key), kind, header, properties))
    }

    /// Returns the ARN of a destination: an ARN, an object with an ARN, or the key of another function.
    fn destination(&self, written: &Node) -> Node {
        if let Some(arn) = written.get("arn") {
            return arn.clone();
        }
        match written.as_str().filter(|key| self.keys.contains(*key)) {
            Some(key) => arn_of(&names::function(key), written.span),
            None => written.clone(),
        }
    }
}

/// Returns the property `name`: the entries of a function, and those of the provider that it does not override. It is
/// unresolved if either is.
fn merged(name: &str, own: Option<&Entry>, shared: Option<&Node>) -> Option<Entry> {
    let (own, shared) = match (own, shared) {
        (own, None) => return own.map(|own| renamed(name, own)),
        (None, Some(shared)) => return Some(set(name, shared.clone())),
        (Some(own), Some(shared)) => (own, shared),
    };
    let (Some(mine), Some(theirs)) = (own.value.entries(), shared.entries()) else {
        let open = if own.value.entries().is_none() {
            &own.value
        } else {
            shared
        };
        return Some(set(name, open.clone()));
    };
    let further = theirs.iter().filter(|entry| own.value.entry(&entry.key).is_none());
    let all = mine.iter().chain(further).cloned().collect();
    Some(set(name, mapping(own.value.span, all)))
}

/// Returns `provider.iam.role` or `provider.role`, if it names a role instead of describing one.
fn role(resolver: &mut Resolver<'_>, document: &Node) -> Option<Entry> {
    let provider = document.get("provider")?;
    let (entry, path) = match provider.get("iam").and_then(|iam| iam.entry("role")) {
        Some(entry) => (entry, ["provider", "iam", "role"].as_slice()),
        None => (provider.entry("role")?, ["provider", "role"].as_slice()),
    };
    let value = resolver.section(path).unwrap_or_else(|| entry.value.clone());
    let is_name = match value.entries() {
        Some(entries) => entries.iter().any(|entry| entry.key.starts_with("Fn::")),
        None => value.as_str().is_some(),
    };
    is_name.then(|| Entry { value, ..entry.clone() })
}

/// Converts a role, which is an ARN, an expression or a logical id.
fn role_of(written: &Node) -> Node {
    match written.as_str() {
        Some(id) if !id.starts_with("arn:") && !id.contains("${") => arn_of(id, written.span),
        _ => written.clone(),
    }
}

/// Returns a `Fn::GetAtt` of a resource's ARN.
pub(super) fn arn_of(id: &str, at: Span) -> Node {
    let path = list(at, vec![text(at, id), text(at, "Arn")]);
    mapping(at, vec![set("Fn::GetAtt", path)])
}

/// Returns `true` if the framework uses the value instead of its default.
pub(super) fn is_truthy(value: &Node) -> bool {
    match &value.value {
        Value::Null | Value::Bool(false) | Value::Integer(0) => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}
