import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Passkeys } from '../../auth/passkeys.service.js';
import type { ApiRequest } from '../../common/http/request.js';
import { AuthenticatorsRepository } from '../../identity/authenticators.repository.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { setPageHeaders } from './layout.js';
import { loginPage, type LoginForm } from './login-page.js';
import { openPage, originOf } from './page-context.js';

/** Sends the login page with all ways to log in. */
@Injectable()
export class LoginPages {
  constructor(
    private readonly runtime: RuntimeSettings,
    private readonly authenticators: AuthenticatorsRepository,
    private readonly passkeys: Passkeys,
  ) {}

  async send(request: ApiRequest, response: Response, form: LoginForm): Promise<void> {
    const { CUSTOM_LOGIN_INFO: notice } = await this.runtime.get('CUSTOM_LOGIN_INFO');
    const options = await this.authenticators.enabled();
    const passkey = await this.passkeys.beginPasswordless(originOf(request));
    setPageHeaders(response);
    response.send(loginPage(openPage(request, response), { ...form, notice, options, passkey }));
  }
}
