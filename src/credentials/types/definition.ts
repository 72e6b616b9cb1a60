/** Kinds of credential types, with their display names in the API. */
export const CREDENTIAL_KIND_CHOICES = [
  ['ssh', 'Machine'],
  ['vault', 'Vault'],
  ['net', 'Network'],
  ['scm', 'Source Control'],
  ['cloud', 'Cloud'],
  ['registry', 'Container Registry'],
  ['token', 'Personal Access Token'],
  ['insights', 'Insights'],
  ['external', 'External'],
  ['kubernetes', 'Kubernetes'],
  ['galaxy', 'Galaxy'],
  ['cryptography', 'Cryptography'],
] as const;

export type CredentialKind = (typeof CREDENTIAL_KIND_CHOICES)[number][0];

/** Value of an input that is prompted for at launch. */
export const ASK = 'ASK';

/** Placeholder in the inputs of a credential for a value that is looked up when a run starts. */
export const FETCHED = '$fetched$';

export type InputFormat = 'ssh_private_key' | 'url' | 'vault_id';

/** Input of a credential type, in the format that is stored and shown. */
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
   * True if the input decides where the secrets of a credential are sent, or who can read them in
   * transit. The default is true for inputs that are not secrets.
   */
  destination?: boolean;
}

/**
 * `inputs` of a credential type. `dependencies` maps an input to the inputs that it requires. `metadata`,
 * for secret stores, identifies one secret; `required` applies to fields and metadata.
 */
export interface TypeInputs {
  fields?: InputField[];
  metadata?: InputField[];
  required?: string[];
  dependencies?: Record<string, string[]>;
}

/** `injectors` of a credential type: Jinja templates over the inputs and `tower.filename`. */
export interface TypeInjectors {
  file?: Record<string, string>;
  env?: Record<string, string>;
  extra_vars?: Record<string, string>;
}

/** Properties of a credential type for the rules in this folder. */
export interface CredentialTypeDefinition {
  name: string;
  kind: CredentialKind;
  /** Null for custom types. */
  namespace: string | null;
  managed: boolean;
  inputs: TypeInputs;
  injectors: TypeInjectors;
}

/** Inputs of a credential: declared ids only, with secrets in clear text. */
export type CredentialInputs = Record<string, string | boolean>;

export interface TypedInputs {
  type: CredentialTypeDefinition;
  inputs: CredentialInputs;
}

/** Validation errors in the contract's format; an empty object if there are none. */
export type DefinitionErrors = Record<string, string[]>;

/** Returns a declared input by id. */
export function inputField(type: CredentialTypeDefinition, id: string): InputField | undefined {
  return type.inputs.fields?.find((field) => field.id === id);
}
