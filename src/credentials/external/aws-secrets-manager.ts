import { AwsV4Signer } from 'aws4fetch';
import type { OutboundRequest } from '../../outbound/outbound-client.js';
import { memberOf } from '../../common/records.js';
import { textInput } from '../types/inputs.js';
import { LookupError } from './lookup-error.js';
import { once, type RefusalReason, type SecretStore, hostPartOf } from './secret-store.js';
import { decodedBase64, objectIn } from './store-response.js';

/** Reads whole secrets from AWS Secrets Manager. Every request is signed, so there is no login. */
export const awsSecretsManager: SecretStore = (inputs, { call }) => {
  const secrets = new Map<string, Promise<string>>();
  return {
    read({ region_name: region = '', secret_name: name = '' }) {
      return once(secrets, JSON.stringify([region, name]), async () => {
        const request = await signed(hostPartOf(region, 'region_name'), name, {
          accessKeyId: textInput(inputs, 'aws_access_key'),
          secretAccessKey: textInput(inputs, 'aws_secret_key'),
        });
        const secret = objectIn(await call(request, reasonOf));
        const [text, binary] = ['SecretString', 'SecretBinary'].map((key) => memberOf(secret, key));
        if (typeof text === 'string') return text;
        if (typeof binary === 'string') return decodedBase64(binary);
        throw new LookupError('The response has no secret.');
      });
    },
  };
};

/** Types of errors, which all have the status 400. */
const REASONS = [
  'AccessDeniedException',
  'DecryptionFailure',
  'IncompleteSignatureException',
  'InvalidRequestException',
  'InvalidSignatureException',
  'ResourceNotFoundException',
  'ThrottlingException',
  'UnrecognizedClientException',
];

const reasonOf: RefusalReason = ({ body }) => {
  const type = /"__type"\s*:\s*"(?:[^"]*#)?(\w+)"/.exec(body)?.[1] ?? '';
  return REASONS.includes(type) ? type : null;
};

/** Access key of an AWS user. */
export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
}

function signed(region: string, name: string, keys: AwsKeys): Promise<OutboundRequest> {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return signedRequest(
    {
      method: 'POST',
      url: `https://secretsmanager.${region}.${domain}/`,
      headers: {
        'Content-Type': 'application/x-amz-json-1.1',
        'X-Amz-Target': 'secretsmanager.GetSecretValue',
      },
      body: JSON.stringify({ SecretId: name }),
    },
    { service: 'secretsmanager', region, ...keys },
  );
}

/**
 * Signs a request with Signature Version 4. The request follows no redirects, because the signature
 * is for one host.
 *
 * @param options `datetime` is the current time by default
 */
export async function signedRequest(
  request: OutboundRequest & { body?: string },
  options: AwsKeys & { service: string; region: string; datetime?: string },
): Promise<OutboundRequest> {
  const { method, url, headers = {}, body = null } = request;
  const signer = new AwsV4Signer({ method, url, headers, body, allHeaders: true, ...options });
  const { headers: sent } = await signer.sign();
  return { ...request, headers: Object.fromEntries(sent), redirects: 'none' };
}
