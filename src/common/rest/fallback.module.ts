import { Module } from '@nestjs/common';
import { FallbackController } from './fallback.controller.js';

/** Must be imported last; see `FallbackController`. */
@Module({ controllers: [FallbackController] })
export class FallbackModule {}
