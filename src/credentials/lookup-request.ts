import { Json } from '../common/fields/field.js';

/** What a test of a secret store is asked for. */
export class LookupRequest {
  @Json({ help: 'Inputs in place of those of the credential; $encrypted$ keeps a secret.' })
  inputs!: Record<string, unknown>;

  @Json({ help: 'Names a secret in the store, by the type of the credential.' })
  metadata!: Record<string, unknown>;
}
