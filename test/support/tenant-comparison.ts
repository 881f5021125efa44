/** The text before a parenthesis that has a query of WITH, a derived table or a part of a UNION. */
const BEFORE_QUERY = /(^|\bAS|\bMATERIALIZED|\bFROM|\bJOIN|\bLATERAL|\bUNION|\bUNION ALL) *$/
const QUERY = /^[ (]*(SELECT|WITH|INSERT|UPDATE|DELETE)\b/

/** The text after a parenthesis, up to the one that closes it. */
function readParenthesis(text: string, start: number): string {
  let depth = 1
  let end = start
  for (; depth > 0 && end < text.length; end++) {
    if (text[end] === '(') depth++
    if (text[end] === ')') depth--
  }
  return text.slice(start, end - 1)
}

/**
 * The queries of a statement, each without its expressions in parentheses: itself, those of WITH, and derived tables.
 * A proxy that looks for the tenant of a statement reads these.
 */
function readQueries(text: string): string[] {
  const queries: string[] = []
  let own = ''
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== '(') {
      own += text[i]
      continue
    }
    const inner = readParenthesis(text, i + 1)
    if (BEFORE_QUERY.test(own) && QUERY.test(inner)) queries.push(...readQueries(inner))
    own += '()'
    i += inner.length + 1
  }
  return [own, ...queries]
}

const INSERT_OF_TENANT = /^ *INSERT INTO "\w+"(?: AS \w+)? \("tenantId"[^)]*\) *(?:SELECT|VALUES \() *\$1\b/

/**
 * How a statement names its tenant, `$1`: its rows have it as `"tenantId"`, or it requires the tenant `system` and is
 * about all tenants. Null when a reader of the text finds neither.
 */
export function findTenantComparison(statement: string): 'tenant' | 'all tenants' | null {
  const text = statement.replace(/--.*$/gm, '').replace(/\s+/g, ' ').replaceAll('$1::text', '$1')
  if (INSERT_OF_TENANT.test(text)) return 'tenant'
  const queries = readQueries(text)
  if (queries.some((query) => /"tenantId" = \$1(?!\d)/.test(query))) return 'tenant'
  return queries.some((query) => /WHERE \$1 = 'system'/.test(query)) ? 'all tenants' : null
}
