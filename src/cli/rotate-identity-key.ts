import { SecretBox } from '../common/crypto/secret-box.js';
import { Settings } from '../config/settings.js';
import { SigningKey } from '../run-identity/signing-key.entity.js';
import { SigningKeysRepository } from '../run-identity/signing-keys.repository.js';
import { SigningKeys } from '../run-identity/signing-keys.service.js';
import { withDatabase } from './migrate.js';

/** Adds a key for the identity tokens of runs. The key signs after it has been published for an hour. */
export async function rotateIdentityKey(): Promise<void> {
  const { SECRET_KEY, SECRET_KEY_OLD } = Settings.load(process.env);
  const box = new SecretBox(SECRET_KEY, SECRET_KEY_OLD);
  const id = await withDatabase((database) => {
    const repository = new SigningKeysRepository(database.manager.getRepository(SigningKey));
    return new SigningKeys(repository, database, box).rotate();
  });
  process.stdout.write(`added key ${id}, which signs in an hour\n`);
}
