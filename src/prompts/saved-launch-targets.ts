import type { CombinedCredential } from '../credentials/types/combination.js';
import type { SavedTarget } from './saved-prompt-errors.js';

/** A credential as launches see it; of its inputs only the vault id is kept. */
export interface LaunchCredential extends CombinedCredential {
  id: number;
  credentialTypeId: number;
  passwordsNeeded: string[];
  mayUse: boolean;
}

/** What a node of a workflow or a schedule launches, as far as what is saved there depends on it. */
export interface SavedLaunchTarget extends SavedTarget {
  id: number;
  type: string;
  name: string;
  /** Those of a job template. */
  credentials: readonly LaunchCredential[];
}

/**
 * Loads what saved launches refer to, in a constant number of statements. Implemented where templates
 * are launched, since saving asks what launching would.
 */
export abstract class SavedLaunchTargets {
  /** Templates of any kind by id; unknown ids are left out. */
  abstract templates(ids: readonly number[]): Promise<Map<number, SavedLaunchTarget>>;
  /** Credentials by id, whoever may use them; unknown ids are left out. */
  abstract credentials(ids: readonly number[]): Promise<Map<number, LaunchCredential>>;
}
