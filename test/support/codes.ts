import { findTenant } from '../../src/access/tenant-cache.ts'
import { type CodeContents, sealCode, unsealCode } from '../../src/oidc/token/sealed-codes.ts'

const getTokenKey = async (tenant: string): Promise<Buffer> => {
  const row = await findTenant(tenant)
  if (!row) throw new Error(`no tenant ${tenant}`)
  return row.tokenKey
}

/** What a tenant has sealed in an authorization code. */
export async function readCodeContents(tenant: string, code: string): Promise<CodeContents> {
  const contents = unsealCode(await getTokenKey(tenant), code)
  if (!contents) throw new Error('the code is not of the tenant')
  return contents
}

/** An authorization code with other contents, as the tenant could have issued it. */
export const alterCode = async (
  tenant: string,
  code: string,
  changes: Partial<CodeContents>,
): Promise<string> =>
  sealCode(await getTokenKey(tenant), { ...(await readCodeContents(tenant, code)), ...changes })
