import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { Invalid } from '../common/errors/errors.js';
import { CredentialsRepository } from '../credentials/credentials.repository.js';
import { passwordsNeeded } from '../credentials/types/inputs.js';
import { sealPasswords } from '../prompts/launch-secrets.js';

/** The passwords that the credentials of commands leave to their launch. */
@Injectable()
export class CommandPasswords {
  constructor(
    private readonly credentials: CredentialsRepository,
    private readonly box: SecretBox,
  ) {}

  /** Names of the passwords that each of some credentials lacks; one that is gone is missing. */
  async needed(ids: readonly (number | null)[]): Promise<Map<number | null, string[]>> {
    const known = [...new Set(ids.flatMap((id) => id ?? []))];
    const found = known.length > 0 ? await this.credentials.sealed(known) : [];
    return new Map(found.map(({ id, type, inputs }) => [id, passwordsNeeded(type, inputs)]));
  }

  /** The same of one credential; none of no credential. */
  async neededBy(id: number | null): Promise<string[]> {
    return (await this.needed([id])).get(id) ?? [];
  }

  /**
   * Those of the passwords given that the credential lacks, by name. Who may not use it is not told
   * which these are: the launch is refused for that.
   *
   * @throws Invalid naming those that are needed, when one is missing
   */
  async taken(
    credential: number,
    given: Readonly<Record<string, string | undefined>>,
    actor: Actor,
  ): Promise<Record<string, string>> {
    const [found] = await this.credentials.usable([credential], actor);
    if (!found?.may_use) return {};
    const needed = passwordsNeeded(found.credential_type, found.inputs);
    if (needed.some((name) => (given[name] ?? '') === '')) {
      throw new Invalid({ passwords_needed_to_start: needed });
    }
    return Object.fromEntries(needed.map((name) => [name, given[name] ?? '']));
  }

  /** The passwords as they are kept for a command until it ends. */
  seal(command: number, passwords: Readonly<Record<string, string>>): string {
    return sealPasswords(this.box, command, passwords);
  }
}
