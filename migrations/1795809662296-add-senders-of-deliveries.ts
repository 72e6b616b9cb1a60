import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddSendersOfDeliveries1795809662296 implements MigrationInterface {
  name = 'AddSendersOfDeliveries1795809662296';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "webhook_deliveries" ADD "sender" text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "webhook_deliveries" DROP COLUMN "sender"`);
  }
}
