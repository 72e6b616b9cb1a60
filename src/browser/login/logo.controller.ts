import { Controller, Get, StreamableFile } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { LOGO_URL } from '../../config/ui-settings.js';
import { Reply } from '../../common/http/reply.js';
import { assetUrl } from '../shared/assets.js';
import { Route } from '../../common/rest/route.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';

/** Browsers show a changed logo after one minute at most. */
const CACHED = { 'Cache-Control': 'public, max-age=60' };

/** Serves the logo as a separate file, so that browsers cache it across pages. */
@ApiTags('root')
@Controller('logo')
export class LogoController {
  constructor(private readonly runtime: RuntimeSettings) {}

  @Route({
    access: 'public',
    operationId: 'logo',
    outsideApi: true,
    summary: 'Logo of the pages: the setting CUSTOM_LOGO, or else the default logo.',
    produces: 'image/*',
    redirects: true,
    response: { type: 'string', format: 'binary' },
  })
  @Get()
  async show(): Promise<Reply> {
    const { CUSTOM_LOGO: url } = await this.runtime.get('CUSTOM_LOGO');
    const [, type, data] = LOGO_URL.exec(url) ?? [];
    if (type === undefined || data === undefined) {
      return new Reply(302, undefined, { ...CACHED, Location: assetUrl('favicon.svg') });
    }
    return new Reply(200, new StreamableFile(Buffer.from(data, 'base64'), { type }), CACHED);
  }
}
