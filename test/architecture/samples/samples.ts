import { sql, type Sql } from '../../../src/database/sql.js';
import type { TableRepository } from '../../../src/database/repository.js';
import type { RunRequest } from '../../../src/runs/launcher.js';

/** A request for a run. */
export const REQUESTED: RunRequest = { templateId: 1, launchType: 'scheduled', createdBy: 3 };

type Repository = TableRepository<never>;
type Function = (...args: never[]) => unknown;

/** Methods that a repository has of its own, beyond those of every table. */
type OwnMethods<Of> = {
  [Name in Exclude<keyof Of, keyof Repository>]: Of[Name] extends Function ? Name : never;
}[Exclude<keyof Of, keyof Repository>];

type Arguments<Called> = Called extends (...args: infer Args) => unknown ? Args : never;

/** Calls of the methods of one repository, by name. Several where the statement depends on them. */
export interface RepositorySamples {
  repository: abstract new (...args: never[]) => unknown;
  calls: Readonly<Record<string, readonly (readonly unknown[])[]>>;
}

/** Where a fragment stands that is no expression: a condition on an alias, a part of a FROM. */
type Frame = (fragment: Sql) => Sql;

/** Frame of a fragment that is a query of several columns. */
export const asQuery: Frame = (query) => sql`SELECT * FROM (${query}) made`;

interface FramedCalls<Called> {
  calls: readonly Arguments<Called>[];
  inside: Frame;
}

type FragmentsOf<Module> = {
  [Name in keyof Module as Module[Name] extends (...args: never[]) => Sql ? Name : never]:
    readonly Arguments<Module[Name]>[] | FramedCalls<Module[Name]>;
};

/** Calls of the fragments that one file exports, by name. */
export interface FragmentSamples {
  module: object;
  fragments: Readonly<
    Record<
      string,
      readonly (readonly unknown[])[] | { calls: readonly (readonly unknown[])[]; inside: Frame }
    >
  >;
}

/** What the statements of a room are called with by statements.spec.ts. */
export interface RoomSamples {
  repositories: readonly RepositorySamples[];
  fragments: readonly FragmentSamples[];
}

/** Arguments for every method of a repository; one that is missing is an error of the compiler. */
export function samplesOf<Of>(
  repository: abstract new (...args: never[]) => Of,
  calls: { [Name in OwnMethods<Of>]: readonly Arguments<Of[Name]>[] },
): RepositorySamples {
  return { repository, calls };
}

/** Arguments for every fragment that a file exports; as expressions where no frame is given. */
export function fragmentsOf<Module extends object>(
  module: Module,
  fragments: FragmentsOf<Module>,
): FragmentSamples {
  return { module, fragments: fragments as FragmentSamples['fragments'] };
}
