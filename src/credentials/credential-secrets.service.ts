import { Injectable } from '@nestjs/common';
import { SecretBox, UnsealError } from '../common/crypto/secret-box.js';
import { entryOf, zip } from '../common/invariants.js';
import { isTexts } from '../common/records.js';
import {
  CredentialInputSourcesRepository,
  type InputSource,
} from './credential-input-sources.repository.js';
import { CredentialsRepository, type SealedCredential } from './credentials.repository.js';
import { LookupError } from './external/lookup-error.js';
import type { LookupSession } from './external/lookup-session.js';
import { SecretLookups } from './external/secret-lookups.service.js';
import { openInputs } from './sealed-inputs.js';
import type { CredentialInputs, TypedInputs } from './types/definition.js';
import { withFetched } from './types/fetched-inputs.js';
import { needsToken, withToken } from './types/issued-tokens.js';

/**
 * Credential with secrets in clear text, for code that uses the credential. Never put it into a response,
 * a log line or a job's row.
 */
export interface OpenCredential extends TypedInputs {
  id: number;
  name: string;
}

/** Access to the secrets of credentials, for runs, project updates and status posts. */
@Injectable()
export class CredentialSecrets {
  constructor(
    private readonly credentials: CredentialsRepository,
    private readonly sources: CredentialInputSourcesRepository,
    private readonly lookups: SecretLookups,
    private readonly box: SecretBox,
  ) {}

  /**
   * Returns credentials with their secrets. Reads stored inputs with one statement, and fetches
   * looked-up inputs, which can take half a minute. Ids without a credential are omitted.
   *
   * @param session session of the run or of the status post, which logs in to each store once
   * @throws UnsealError naming the credential, if a secret cannot be decrypted with the installation's keys
   * @throws LookupError naming the input, the credential and the store, if a value cannot be
   *   fetched
   */
  async open(ids: readonly number[], session: LookupSession): Promise<Map<number, OpenCredential>> {
    const opened = await this.stored(ids);
    const sources = opened.size === 0 ? [] : await this.sources.ofTargets([...opened.keys()]);
    if (sources.length > 0) await this.fetchInto(opened, sources, session);
    await this.issueInto(opened, session);
    return opened;
  }

  /** Adds issued tokens to credentials that consist of a token. Issued tokens are never stored. */
  private async issueInto(
    opened: Map<number, OpenCredential>,
    session: LookupSession,
  ): Promise<void> {
    const credentials = [...opened.values()].filter(needsToken);
    if (credentials.length === 0) return;
    const values = await this.lookups.fetch(
      credentials.map((store) => ({ store, location: {} })),
      session,
    );
    for (const [credential, token] of zip(credentials, values)) {
      if (token instanceof LookupError) {
        throw new LookupError(
          `Could not get a token with credential "${credential.name}": ${token.message}`,
        );
      }
      opened.set(credential.id, withToken(credential, token));
    }
  }

  private async stored(ids: readonly number[]): Promise<Map<number, OpenCredential>> {
    if (ids.length === 0) return new Map();
    const rows = await this.credentials.sealed(ids);
    return new Map(rows.map((row) => [row.id, { ...row, inputs: this.inputsOf(row) }]));
  }

  private inputsOf({ id, name, inputs }: SealedCredential): CredentialInputs {
    try {
      return openInputs(this.box, id, inputs);
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      throw new UnsealError(error.reason, `A secret of credential "${name}"`);
    }
  }

  private async fetchInto(
    opened: Map<number, OpenCredential>,
    sources: readonly InputSource[],
    session: LookupSession,
  ): Promise<void> {
    const stores = await this.stored([...new Set(sources.map((source) => source.source_id))]);
    const values = await this.lookups.fetch(
      sources.map(({ source_id: source, metadata }) => ({
        store: entryOf(stores, source),
        location: isTexts(metadata) ? metadata : {},
      })),
      session,
    );
    for (const [{ target_id: target, field, source_id: source }, value] of zip(sources, values)) {
      const credential = entryOf(opened, target);
      const updated = value instanceof LookupError ? value : withFetched(credential, field, value);
      if (updated instanceof LookupError) {
        const { name } = entryOf(stores, source);
        throw new LookupError(
          `Could not get "${field}" of credential "${credential.name}" from "${name}": ${updated.message}`,
        );
      }
      opened.set(target, updated);
    }
  }
}
