import { Injectable } from '@nestjs/common';
import { SecretBox } from '../common/crypto/secret-box.js';
import { CredentialsRepository } from './credentials.repository.js';
import { openInputs } from './sealed-inputs.js';
import type { CredentialInputs, CredentialTypeDefinition } from './types/definition.js';
import { passwordsNeeded } from './types/inputs.js';

/** A credential as its users need it. Never put it into an answer, a log line or a job row. */
export interface OpenCredential {
  id: number;
  name: string;
  type: CredentialTypeDefinition;
  /** Secrets in clear. */
  inputs: CredentialInputs;
}

/** The way to the secrets of credentials, for runs, project syncs and status posts. */
@Injectable()
export class CredentialSecrets {
  constructor(
    private readonly credentials: CredentialsRepository,
    private readonly box: SecretBox,
  ) {}

  /**
   * Credentials with their secrets, in one statement. Ids without a credential are left out.
   *
   * @throws UnsealError when a secret cannot be opened with the installation's keys
   */
  async open(ids: readonly number[]): Promise<Map<number, OpenCredential>> {
    if (ids.length === 0) return new Map();
    const rows = await this.credentials.sealed(ids);
    return new Map(
      rows.map((row) => [row.id, { ...row, inputs: openInputs(this.box, row.id, row.inputs) }]),
    );
  }

  /** Names of the passwords a launch must bring, by credential; see `passwordsNeeded` of the types. */
  async passwordsNeeded(ids: readonly number[]): Promise<Map<number, string[]>> {
    const opened = await this.open(ids);
    return new Map(
      [...opened].map(([id, { type, inputs }]) => [id, passwordsNeeded(type, inputs)]),
    );
  }
}
