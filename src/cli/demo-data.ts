import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DemoData } from '../demo/demo-data.service.js';
import { DemoModule } from '../demo/demo.module.js';
import { FeaturesModule } from '../features.module.js';

@Module({ imports: [FeaturesModule, DemoModule] })
class DemoDataModule {}

/** Creates the demo objects, unless this installation has already created them. */
export async function demoData(): Promise<void> {
  const app = await NestFactory.createApplicationContext(DemoDataModule, { logger: ['error'] });
  try {
    const created = await app.get(DemoData).createOnce();
    process.stdout.write(created ? 'created the demo objects\n' : 'demo objects already created\n');
  } finally {
    await app.close();
  }
}
