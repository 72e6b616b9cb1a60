import { sql, type Sql } from '../../../src/database/sql.js';
import type { TableRepository } from '../../../src/database/repository.js';
import type { RunRequest } from '../../../src/runs/launcher.js';

/** Launch request of a run. */
export const REQUESTED: RunRequest = { templateId: 1, launchType: 'scheduled', createdBy: 3 };

type Repository = TableRepository<never>;
type Function = (...args: never[]) => unknown;

/** Methods of a repository, without those that all repositories share. */
type OwnMethods<Of> = {
  [Name in Exclude<keyof Of, keyof Repository>]: Of[Name] extends Function ? Name : never;
}[Exclude<keyof Of, keyof Repository>];

type Arguments<Called> = Called extends (...args: infer Args) => unknown ? Args : never;

/** Arguments of the methods of one repository, by name. Several sets if the statement depends on them. */
export interface RepositorySamples {
  repository: abstract new (...args: never[]) => unknown;
  calls: Readonly<Record<string, readonly (readonly unknown[])[]>>;
}

/**
 * Places a fragment that is not an expression, such as a condition on an alias or a part of a FROM, in a
 * query.
 */
type Frame = (fragment: Sql) => Sql;

/** Places a fragment that is a query of several columns. */
export const asQuery: Frame = (query) => sql`SELECT * FROM (${query}) made`;

interface FramedCalls<Called> {
  calls: readonly Arguments<Called>[];
  inside: Frame;
}

type FragmentsOf<Module> = {
  [Name in keyof Module as Module[Name] extends (...args: never[]) => Sql ? Name : never]:
    readonly Arguments<Module[Name]>[] | FramedCalls<Module[Name]>;
};

/** Arguments of the fragments that one file exports, by name. */
export interface FragmentSamples {
  module: object;
  fragments: Readonly<
    Record<
      string,
      readonly (readonly unknown[])[] | { calls: readonly (readonly unknown[])[]; inside: Frame }
    >
  >;
}

/** Arguments with which statements.spec.ts calls the repositories and fragments of a feature. */
export interface FeatureSamples {
  repositories: readonly RepositorySamples[];
  fragments: readonly FragmentSamples[];
}

/** Declares arguments for every method of a repository. The compiler reports a missing one. */
export function samplesOf<Of>(
  repository: abstract new (...args: never[]) => Of,
  calls: { [Name in OwnMethods<Of>]: readonly Arguments<Of[Name]>[] },
): RepositorySamples {
  return { repository, calls };
}

/** Declares arguments for every fragment that a file exports. Without a frame, fragments are expressions. */
export function fragmentsOf<Module extends object>(
  module: Module,
  fragments: FragmentsOf<Module>,
): FragmentSamples {
  return { module, fragments: fragments as FragmentSamples['fragments'] };
}
