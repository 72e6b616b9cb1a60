/** Kinds of credential types, with the names that the API shows. */
export const CREDENTIAL_KINDS = {
  ssh: 'Machine',
  vault: 'Vault',
  net: 'Network',
  scm: 'Source Control',
  cloud: 'Cloud',
  registry: 'Container Registry',
  token: 'Personal Access Token',
  insights: 'Insights',
  external: 'External',
  kubernetes: 'Kubernetes',
  galaxy: 'Galaxy/Automation Hub',
  cryptography: 'Cryptography',
} as const;

export type CredentialKind = keyof typeof CREDENTIAL_KINDS;

/** Value of an input that is asked for when a job is launched. */
export const ASK = 'ASK';

/** Stands in the inputs of a credential for a value that is looked up when a run starts. */
export const FETCHED = '$fetched$';

export type InputFormat = 'ssh_private_key' | 'url' | 'vault_id';

/** One input of a credential type, in the shape that is stored and shown. */
export interface InputField {
  id: string;
  label: string;
  type: 'string' | 'boolean';
  format?: InputFormat;
  choices?: string[];
  secret?: boolean;
  multiline?: boolean;
  ask_at_runtime?: boolean;
  default?: string | boolean;
  help_text?: string;
  /**
   * True when the input decides where the secrets of a credential are sent, or who can read them on the
   * way. The default is true for inputs that are no secrets.
   */
  destination?: boolean;
}

/**
 * The `inputs` of a credential type. `dependencies`: input -> inputs without which it may not be set.
 * `metadata`, of secret stores: what names one secret; `required` is of both.
 */
export interface TypeInputs {
  fields?: InputField[];
  metadata?: InputField[];
  required?: string[];
  dependencies?: Record<string, string[]>;
}

/** The `injectors` of a credential type: Jinja templates over the inputs and `tower.filename`. */
export interface TypeInjectors {
  file?: Record<string, string>;
  env?: Record<string, string>;
  extra_vars?: Record<string, string>;
}

/** What the rules of this folder need to know of a credential type. */
export interface CredentialTypeDefinition {
  name: string;
  kind: CredentialKind;
  /** Null for custom types. */
  namespace: string | null;
  managed: boolean;
  inputs: TypeInputs;
  injectors: TypeInjectors;
}

/** Inputs of a credential: declared ids only, secrets in clear. */
export type CredentialInputs = Record<string, string | boolean>;

/** Errors of one write, in the contract's shape; an empty object means none. */
export type FieldErrors = Record<string, string[]>;

/** A declared input by id. */
export function inputField(type: CredentialTypeDefinition, id: string): InputField | undefined {
  return type.inputs.fields?.find((field) => field.id === id);
}
