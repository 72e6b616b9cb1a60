import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import * as json from '../common/fields/json-schema.js';
import { Reply } from '../common/http/reply.js';
import { publicRoute, Route } from '../common/rest/route.js';
import { BaseUrl } from '../settings/base-url.service.js';
import { ALGORITHM, SigningKeys } from './signing-keys.service.js';

const CACHED = { 'Cache-Control': 'public, max-age=300' };

/** Documents with which other services verify identity tokens of runs (docs/run-identity.md). */
@ApiTags('operations')
@Controller('.well-known')
export class WellKnownController {
  constructor(
    private readonly keys: SigningKeys,
    private readonly baseUrl: BaseUrl,
  ) {}

  @Route(
    publicRoute(
      'openid_configuration',
      'Issuer of the identity tokens of runs, for OpenID Connect discovery.',
      json.object({
        issuer: json.described(json.STRING, 'Value of `iss`: the setting BASE_URL.'),
        jwks_uri: json.described(json.STRING, 'URL of the public keys.'),
        response_types_supported: json.described(json.list(json.STRING), 'Always `id_token`.'),
        subject_types_supported: json.described(json.list(json.STRING), 'Always `public`.'),
        id_token_signing_alg_values_supported: json.described(
          json.list(json.STRING),
          'Always `RS256`.',
        ),
      }),
    ),
  )
  @Get('openid-configuration')
  async configuration(): Promise<Reply> {
    const issuer = await this.baseUrl.get();
    const body = {
      issuer,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [ALGORITHM],
    };
    return new Reply(null, body, CACHED);
  }

  @Route(
    publicRoute(
      'jwks',
      'Public keys that verify the identity tokens of runs.',
      json.object({
        keys: json.described(
          json.list(
            json.object({
              kty: json.STRING,
              n: json.STRING,
              e: json.STRING,
              kid: json.STRING,
              use: json.STRING,
              alg: json.STRING,
            }),
          ),
          'Keys as JWK (RFC 7517), the newest first.',
        ),
      }),
    ),
  )
  @Get('jwks.json')
  async jwks(): Promise<Reply> {
    return new Reply(null, { keys: await this.keys.published() }, CACHED);
  }
}
