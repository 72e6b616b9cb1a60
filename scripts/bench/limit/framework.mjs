/**
 * Server with the statements of the limit in the framework: Express, Nest, and the guard, interceptor and
 * handler that every application has. Its additional cost is the cost of the framework.
 */
import 'reflect-metadata';
import { Controller, Get, Module, Req, UseGuards, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { map } from 'rxjs';

import { respondToRead, digestOf } from './reads.mjs';

/** Computes the digest of the token. The statement finds its user. */
class TokenGuard {
  /** @param {import('@nestjs/common').ExecutionContext} context */
  async canActivate(context) {
    const request = context.switchToHttp().getRequest();
    request.digest = digestOf(request.headers.authorization);
    return true;
  }
}

class ResponseInterceptor {
  /**
   * @param {import('@nestjs/common').ExecutionContext} _context
   * @param {import('@nestjs/common').CallHandler} next
   */
  intercept(_context, next) {
    return next.handle().pipe(map((body) => body));
  }
}

class ReadsController {
  /** @param {any} request */
  async read({ headers, url, digest }) {
    return respondToRead({ headers, path: url, digest });
  }
}
Req()(ReadsController.prototype, 'read', 0);
Reflect.decorate(
  [Get('*path'), UseGuards(TokenGuard), UseInterceptors(ResponseInterceptor)],
  ReadsController.prototype,
  'read',
  Object.getOwnPropertyDescriptor(ReadsController.prototype, 'read'),
);
Controller('api/v2')(ReadsController);

class ReadsModule {}
Module({ controllers: [ReadsController] })(ReadsModule);

const app = await NestFactory.create(ReadsModule, { logger: false });
const express = app.getHttpAdapter().getInstance();
express.disable('etag');
express.disable('x-powered-by');
await app.listen(0, '127.0.0.1');
const { port } = app.getHttpServer().address();
process.send?.({ port });
process.on('SIGTERM', () => process.exit(0));
