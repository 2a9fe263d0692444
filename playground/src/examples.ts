// Examples: projects of this repository.

const texts: Record<string, string> = import.meta.glob(
  [
    "../../fixtures/stacks/orders/**/*.{tf,yaml,json}",
    "../../fixtures/stacks/workers/terraform/**/*.{tf,toml}",
    "../../fixtures/cdk/orders/cdk.out/**/*",
    "../examples/**/*",
  ],
  { query: "?raw", import: "default", eager: true },
);

const FOLDERS: [name: string, folder: string][] = [
  ["Terraform: a queue and its function", "fixtures/stacks/orders/terraform/"],
  ["CloudFormation", "fixtures/stacks/orders/cloudformation-yaml/"],
  ["CloudFormation in JSON", "fixtures/stacks/orders/cloudformation-json/"],
  ["SAM", "fixtures/stacks/orders/sam/"],
  ["Serverless Framework", "examples/serverless/"],
  ["CDK: a synthesized app", "fixtures/cdk/orders/cdk.out/"],
  ["Terraform: workers of a queue", "fixtures/stacks/workers/terraform/"],
  ["SAM: a handler in Python", "examples/handler/"],
];

/** Files of each example, by its name. */
export const EXAMPLES = new Map(
  FOLDERS.map(([name, folder]) => {
    const own = Object.entries(texts).flatMap(([path, text]) => {
      const at = path.indexOf(folder);
      return at < 0 ? [] : [[path.slice(at + folder.length), text] as const];
    });
    return [name, Object.fromEntries(own)];
  }),
);
