import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';

/** Class, or abstract class, under which a module provides something. */
export type ProviderClass<T = unknown> = abstract new (...args: never[]) => T;

/** The providers that declarations name by their class, such as hooks and extensions of resources. */
@Injectable()
export class DeclaredProviders {
  private readonly resolved = new Map<ProviderClass, unknown>();

  constructor(private readonly moduleRef: ModuleRef) {}

  /** Returns the provider that the declaration of a route or sub-list names as its `rules`. */
  rulesOf({ rules }: { rules?: ProviderClass }): unknown {
    return rules && this.find(rules);
  }

  find<T>(type: ProviderClass<T>): T;
  find(type: ProviderClass): unknown {
    const known = this.resolved.get(type) ?? this.moduleRef.get(type, { strict: false });
    this.resolved.set(type, known);
    return known;
  }
}
