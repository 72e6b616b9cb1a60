import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { Invalid } from '../common/errors/errors.js';
import { CredentialsRepository } from '../credentials/credentials.repository.js';
import { passwordsNeeded } from '../credentials/types/inputs.js';
import { sealPasswords } from '../prompts/launch-secrets.js';

/** The passwords that the credentials of commands require at launch. */
@Injectable()
export class CommandPasswords {
  constructor(
    private readonly credentials: CredentialsRepository,
    private readonly box: SecretBox,
  ) {}

  /**
   * Returns the names of the missing passwords of each credential; a deleted credential has no
   * entry.
   */
  async needed(ids: readonly (number | null)[]): Promise<Map<number | null, string[]>> {
    const known = [...new Set(ids.flatMap((id) => id ?? []))];
    const found = known.length > 0 ? await this.credentials.sealed(known) : [];
    return new Map(found.map(({ id, type, inputs }) => [id, passwordsNeeded(type, inputs)]));
  }

  /** Returns the names of the missing passwords of one credential; none for null. */
  async neededBy(id: number | null): Promise<string[]> {
    return (await this.needed([id])).get(id) ?? [];
  }

  /**
   * Returns the sent passwords that the credential requires, by name. Returns none without
   * permission to use the credential, so that an error does not reveal the names; the launch is
   * then refused for the missing permission.
   *
   * @throws Invalid naming the required passwords if one is missing
   */
  async required(
    credential: number,
    sent: Readonly<Record<string, string | undefined>>,
    actor: Actor,
  ): Promise<Record<string, string>> {
    const [found] = await this.credentials.usable([credential], actor);
    if (!found?.may_use) return {};
    const needed = passwordsNeeded(found.credential_type, found.inputs);
    if (needed.some((name) => (sent[name] ?? '') === '')) {
      throw new Invalid({ passwords_needed_to_start: needed });
    }
    return Object.fromEntries(needed.map((name) => [name, sent[name] ?? '']));
  }

  /** Returns the sealed passwords, which are stored until the command ends. */
  seal(command: number, passwords: Readonly<Record<string, string>>): string {
    return sealPasswords(this.box, command, passwords);
  }
}
