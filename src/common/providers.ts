/** Where a declaration finds what it needs of the application, at the moment it is asked. */
export interface Providers {
  find<T>(token: abstract new (...args: never[]) => T): T;
}
