import { Global, Module } from '@nestjs/common';
import { RuntimeSettings } from './runtime-settings.service.js';
import { SettingsController } from './settings.controller.js';
import './tables.js';

@Global()
@Module({
  controllers: [SettingsController],
  providers: [RuntimeSettings],
  exports: [RuntimeSettings],
})
export class SettingsApiModule {}
