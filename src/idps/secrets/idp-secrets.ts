import { seal, unseal } from '../../core/crypto.ts'
import type { IdentityProvider } from '../../generated/prisma/client.ts'

export const SECRET_COLUMNS = ['clientSecret', 'idTokenSigningKey'] as const
export type SecretColumn = (typeof SECRET_COLUMNS)[number]

/** The purpose of a sealed secret. Moved to another column, provider or tenant, it cannot be decrypted. */
export const toIdpSecretPurpose = (tenant: string, idpId: string, column: SecretColumn): string =>
  `idp:${tenant}:${idpId}:${column}`

/** The row of a provider with decrypted secrets. It never leaves the services of this folder. */
export function unsealIdpSecrets<Row extends Pick<IdentityProvider, 'tenantId' | 'id' | SecretColumn>>(
  row: Row,
): Row {
  const opened = SECRET_COLUMNS.map((column) => {
    const sealed = row[column]
    return [column, sealed && unseal(toIdpSecretPurpose(row.tenantId, row.id, column), sealed).toString()]
  })
  return { ...row, ...Object.fromEntries(opened) }
}

/** Seals the secrets among `fields` for a provider. Absent and null members are unchanged. */
export function sealIdpSecrets<Fields extends Partial<Pick<IdentityProvider, SecretColumn>>>(
  tenant: string,
  idpId: string,
  fields: Fields,
): Fields {
  const sealed = SECRET_COLUMNS.filter((column) => typeof fields[column] === 'string').map((column) => [
    column,
    seal(toIdpSecretPurpose(tenant, idpId, column), fields[column] as string),
  ])
  return { ...fields, ...Object.fromEntries(sealed) }
}
