import { Json } from '../common/fields/field.js';

/** Body of a test of a secret store. */
export class LookupRequest {
  @Json({ help: 'Inputs that replace the inputs of the credential; $encrypted$ keeps a secret.' })
  inputs!: Record<string, unknown>;

  @Json({ help: 'Names a secret in the store, by the type of the credential.' })
  metadata!: Record<string, unknown>;
}
