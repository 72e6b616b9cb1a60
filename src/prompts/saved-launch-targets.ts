import type { CombinedCredential } from '../credentials/types/combination.js';
import type { SavedTarget } from './saved-prompt-errors.js';

/** A credential with the data for launches. Of its inputs, it contains the vault id only. */
export interface LaunchCredential extends CombinedCredential {
  id: number;
  credentialTypeId: number;
  passwordsNeeded: string[];
  mayUse: boolean;
}

/**
 * The template of a workflow node or a schedule, with the data that checks of the saved launch
 * need.
 */
export interface SavedLaunchTarget extends SavedTarget {
  id: number;
  type: string;
  name: string;
  /** Credentials of a job template. */
  credentials: readonly LaunchCredential[];
}

/**
 * Loads the objects that saved launches refer to, in a constant number of statements. Implemented
 * by the launching module, because saving uses the rules of launching.
 */
export abstract class SavedLaunchTargets {
  /** Returns templates of any kind by id; unknown ids are left out. */
  abstract templates(ids: readonly number[]): Promise<Map<number, SavedLaunchTarget>>;
  /** Returns credentials by id, without a permission check; unknown ids are left out. */
  abstract credentials(ids: readonly number[]): Promise<Map<number, LaunchCredential>>;
}
