/** Query for the templates and jobs that use a credential. Implemented by a later feature. */
export abstract class CredentialUses {
  abstract isUsed(credential: number): Promise<boolean>;
}
