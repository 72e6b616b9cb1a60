/** Source of the application's providers for declarations, at the time they are evaluated. */
export interface Providers {
  find<T>(token: abstract new (...args: never[]) => T): T;
}
