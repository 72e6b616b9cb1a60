import { BaseUrl } from './base-url.service.js';
import { Global, Module } from '@nestjs/common';
import { InstallationRepository } from './installation.repository.js';
import { RuntimeSettings } from './runtime-settings.service.js';
import { SettingsController } from './settings.controller.js';
import { SettingsRepository } from './settings.repository.js';

@Global()
@Module({
  controllers: [SettingsController],
  providers: [SettingsRepository, InstallationRepository, RuntimeSettings, BaseUrl],
  exports: [InstallationRepository, RuntimeSettings, BaseUrl],
})
export class SettingsApiModule {}
