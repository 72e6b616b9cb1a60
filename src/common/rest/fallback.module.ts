import { Module } from '@nestjs/common';
import { FallbackController } from './fallback.controller.js';

/** Imported last, see the controller. */
@Module({ controllers: [FallbackController] })
export class FallbackModule {}
