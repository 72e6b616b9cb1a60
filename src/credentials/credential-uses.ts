/** The templates and jobs that use credentials, rooms above, of which one implements it. */
export abstract class CredentialUses {
  abstract isUsed(credential: number): Promise<boolean>;
}
