import { open, seal } from '../crypto.ts'
import type { IdentityProvider } from '../generated/prisma/client.ts'

export const SECRET_COLUMNS = ['clientSecret', 'idTokenSigningKey'] as const
export type SecretColumn = (typeof SECRET_COLUMNS)[number]

/** What a secret is sealed for: moved to another column, provider or tenant, it does not open. */
export const idpSecretPurpose = (tenant: string, idpId: string, column: SecretColumn): string =>
  `idp:${tenant}:${idpId}:${column}`

/** A provider's row with its secrets readable. It never leaves the services of this folder. */
export function openSecrets<Row extends Pick<IdentityProvider, 'tenantId' | 'id' | SecretColumn>>(
  row: Row,
): Row {
  const opened = SECRET_COLUMNS.map((column) => {
    const sealed = row[column]
    return [column, sealed && open(idpSecretPurpose(row.tenantId, row.id, column), sealed).toString()]
  })
  return { ...row, ...Object.fromEntries(opened) }
}

/** The secrets among `fields`, sealed for a provider; what is not there, or null, stays so. */
export function sealSecrets<Fields extends Partial<Pick<IdentityProvider, SecretColumn>>>(
  tenant: string,
  idpId: string,
  fields: Fields,
): Fields {
  const sealed = SECRET_COLUMNS.filter((column) => typeof fields[column] === 'string').map((column) => [
    column,
    seal(idpSecretPurpose(tenant, idpId, column), fields[column] as string),
  ])
  return { ...fields, ...Object.fromEntries(sealed) }
}
