import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { NotFound } from '../errors/errors.js';

/**
 * The OpenAPI document of the process. It is made of the whole application, so the entry point hands
 * over how; it is built when it is first asked for: most processes never are.
 */
@Injectable()
export class ApiDocument {
  private build: (() => OpenAPIObject) | null = null;
  private built: OpenAPIObject | undefined;

  buildWith(build: () => OpenAPIObject): void {
    this.build = build;
  }

  /** @throws NotFound in a process that serves none */
  get(): OpenAPIObject {
    if (!this.build) throw new NotFound();
    return (this.built ??= this.build());
  }
}
