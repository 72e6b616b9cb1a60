/**
 * Query for the templates and jobs that use a credential, which belong to a higher layer. Implemented
 * there.
 */
export abstract class CredentialUses {
  abstract isUsed(credential: number): Promise<boolean>;
}
