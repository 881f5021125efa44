import * as z from 'zod'
import type { CredentialType } from '../model/credential-types.ts'
import { defineEnum, oneValueOf } from '../schema/enums.ts'
import { textIn } from '../schema/formats.ts'
import { boolean } from '../schema/input-shapes.ts'
import { createIdShape, instantShape } from '../schema/response-shapes.ts'
import { findAuthenticatorName } from './passkeys/authenticator-names.ts'

export const CREDENTIAL_TYPE = defineEnum<CredentialType>('CredentialType', 'Kind of a credential.', {
  'public-key': 'A key pair of the WebAuthn kind: a passkey or a security key.',
  totp: 'An authenticator app that shows codes of six digits (RFC 6238).',
  'recovery-codes': 'Codes that are accepted once each instead of a code of the app.',
})
const PUBLIC_KEY = 'public-key' satisfies CredentialType

/** Input of createCredentialEnrollmentToken. */
export const EnrollmentTokenCreate = z
  .strictObject({
    type: oneValueOf(CREDENTIAL_TYPE.shape, PUBLIC_KEY)
      .nullish()
      .transform((value) => value ?? PUBLIC_KEY)
      .meta({ description: 'Kind of the credential; public-key when omitted.' }),
    send: boolean
      .nullish()
      .transform((value) => value ?? true)
      .meta({
        description:
          "True when omitted: the link goes to the user's verified e-mail address, else to their verified phone number. When false, deliver it yourself.",
        example: false,
      }),
  })
  .meta({
    id: 'EnrollmentTokenCreate',
    description: 'The credential to enroll, and the delivery of the link.',
    example: { type: PUBLIC_KEY, send: false },
  })

export const EnrollmentTokenShape = z
  .object({
    token: z.string().meta({
      description:
        'The token, 256 random bits. It is valid once, for 24 hours, until a newer token is created.',
      example: 'Yb6wEWJ3vJ5zqgVQmQ0b9dH7uX1nT2cK8sRfLaPoI4E',
    }),
    uri: textIn('uri').meta({
      description: 'The URL at which the user enrolls in a browser.',
      example: 'https://id.example.com/acme/enroll?token=Yb6wEWJ3vJ5zqgVQmQ0b9dH7uX1nT2cK8sRfLaPoI4E',
    }),
    deepLink: textIn('uri').meta({
      description:
        "The same in a private-use scheme, the reversed host name of the platform's address (RFC 8252, section 7.1), for an application of yours that registers it.",
      example: 'com.example.id:/acme/enroll?token=Yb6wEWJ3vJ5zqgVQmQ0b9dH7uX1nT2cK8sRfLaPoI4E',
    }),
    usableAt: instantShape.meta({
      description:
        'From when it works: at once, or after recoveryWaitingTime if the user has a credential. The user, who is told at every verified address, can cancel it.',
    }),
  })
  .meta({ id: 'EnrollmentToken', model: 'EnrollmentToken' })

const nullableText = (description: string, example: string) =>
  z.string().nullable().meta({ description, example })

/** Fields of a device, in the order of the API. */
export const DeviceShape = z
  .object({
    hash: nullableText(
      'Identical for devices of the tenant with the same properties. It does not authenticate a device.',
      '6mZQf0y9Xn0',
    ),
    swVersion: nullableText('Version of the application that enrolled; null for the hosted page.', '2.3.1'),
    mobile: z.boolean().nullable().meta({ description: 'Whether it is a phone.', example: false }),
    platform: nullableText('Operating system.', 'macOS'),
    architecture: nullableText('Architecture of the processor.', 'arm'),
    bitness: nullableText('Bits of the architecture.', '64'),
    model: nullableText('Model of the device.', 'Pixel 9'),
    platformVersion: nullableText('Version of the operating system.', '15.1.0'),
    uaBrand: nullableText('Browser.', 'Google Chrome'),
    uaVersion: nullableText('Version of the browser.', '142.0.7444.60'),
    lastSeenIp: nullableText('Address that it was last seen at.', '203.0.113.7'),
    lastSeenAt: instantShape.nullable().meta({ description: 'When it was last seen.' }),
  })
  .meta({
    id: 'Device',
    description: 'The device on which a credential was enrolled, as reported by its browser.',
  })

/** A credential as it is returned, in the order of the API. */
export const CredentialShape = z
  .object({
    id: createIdShape('cred'),
    type: CREDENTIAL_TYPE.shape.meta({
      description:
        'Kind of the credential: a passkey or security key, an authenticator app (totp), or a set of recovery codes.',
      example: PUBLIC_KEY,
    }),
    name: nullableText(
      'The authenticator or password manager that keeps it, as it reports; null when unknown.',
      'Google Password Manager',
    ),
    publicKey: z.string().nullable().meta({
      description:
        'The public key as WebAuthn has it: COSE_Key (RFC 9052, section 7) in base64url. Null for a second factor.',
      example: 'pQECAyYgASFYIA',
    }),
    lastUsedAt: instantShape.nullable().meta({ description: 'When a user last signed in with it.' }),
    createdAt: instantShape.meta({ description: 'When it was enrolled.' }),
    device: DeviceShape.nullable(),
  })
  .meta({ id: 'Credential', model: 'Credential' })

/** A device as services use it: times are dates. */
export type Device = Omit<z.output<typeof DeviceShape>, 'lastSeenAt'> & { lastSeenAt: Date | null }

/** Names of the fields of a device. */
export const DEVICE_FIELDS = Object.keys(DeviceShape.shape) as (keyof Device)[]

type DeviceColumnName<Name extends string> = `device${Capitalize<Name>}`
export type DeviceRow = { [Field in keyof Device as DeviceColumnName<Field>]: Device[Field] }

/** The column of a credential that stores a field of its device. */
export const toDeviceColumn = <Field extends keyof Device>(field: Field): DeviceColumnName<Field> =>
  `device${field.charAt(0).toUpperCase()}${field.slice(1)}` as DeviceColumnName<Field>

/** The device of a credential; null when unknown. */
export function toDevice(row: DeviceRow): Device | null {
  const device = Object.fromEntries(
    DEVICE_FIELDS.map((field) => [field, row[toDeviceColumn(field)]]),
  ) as unknown as Device
  return Object.values(device).every((value) => value === null) ? null : device
}

type CredentialFields = {
  id: string
  type: string
  aaguid: string | null
  publicKey: string | null
  lastUsedAt: Date | null
  createdAt: Date
}

/** A credential as REST returns it, null where unset. */
export const toCredential = (row: CredentialFields & DeviceRow) => ({
  id: row.id,
  type: row.type,
  name: findAuthenticatorName(row.aaguid),
  publicKey: row.publicKey,
  lastUsedAt: row.lastUsedAt,
  createdAt: row.createdAt,
  device: toDevice(row),
})
