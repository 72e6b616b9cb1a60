import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RunsModule } from '../runs/runs.module.js';
import { RunTokens } from './run-tokens.service.js';
import { SigningKey } from './signing-key.entity.js';
import { SigningKeysRepository } from './signing-keys.repository.js';
import { SigningKeys } from './signing-keys.service.js';
import { WellKnownController } from './well-known.controller.js';

@Module({
  imports: [TypeOrmModule.forFeature([SigningKey]), RunsModule],
  controllers: [WellKnownController],
  providers: [SigningKeysRepository, SigningKeys, RunTokens],
  exports: [RunTokens],
})
export class RunIdentityModule {}
