import type { FieldIssue } from '../core/errors.ts'
import { CLIENT_TEXTS, type ClientTranslation } from '../model/client-translation.ts'
import { canonicalizeLanguageTag } from '../schema/language-tag.ts'

type ClientText = (typeof CLIENT_TEXTS)[number]

const MEMBER_BY_TEXT: Record<ClientText, string> = {
  name: 'client_name',
  logoUrl: 'logo_uri',
  policyUrl: 'policy_uri',
  termsUrl: 'tos_uri',
}
const TEXT_BY_MEMBER = new Map(CLIENT_TEXTS.map((text) => [MEMBER_BY_TEXT[text], text]))

/** The case of a tag has no meaning (RFC 5646, section 2.1.1). The field reports one that is not well-formed. */
const toTag = (tag: string): string => canonicalizeLanguageTag(tag) ?? tag

/** Members of metadata with language tags, as translations of a client, and the members by the paths of their fields. */
export type LanguageMembers = {
  translations: Record<string, unknown>[]
  issues: FieldIssue[]
  /** The members that a field comes from, such as `client_name#de` for `translations.0.name`. */
  findMembers: (path: string) => string[]
}

/**
 * Reads members such as `client_name#de` (OIDC Registration 1.0, section 2.1; RFC 7591, section 2.2). Members without a
 * value are as if they were not sent. A tag is reported if it is given twice, in another case.
 */
export function readLanguageMembers(metadata: Record<string, unknown>): LanguageMembers {
  const byTag = new Map<string, { texts: Map<ClientText, unknown>; members: Map<ClientText, string> }>()
  const issues: FieldIssue[] = []
  for (const [member, value] of Object.entries(metadata)) {
    const at = member.indexOf('#')
    const text = at < 0 ? undefined : TEXT_BY_MEMBER.get(member.slice(0, at))
    if (!text || value === null) continue
    const tag = toTag(member.slice(at + 1))
    const known = byTag.get(tag) ?? { texts: new Map(), members: new Map() }
    byTag.set(tag, known)
    if (known.texts.has(text)) issues.push({ field: member, description: 'is given twice' })
    known.texts.set(text, value)
    known.members.set(text, member)
  }
  const groups = [...byTag]
  return {
    translations: groups.map(([locale, { texts }]) => ({ locale, ...Object.fromEntries(texts) })),
    issues,
    findMembers: (path) => {
      const [, index, name] = path.split('.')
      const members = groups[Number(index)]?.[1].members
      const member = members?.get(name as ClientText)
      // An invalid tag, or too many: all members of the tag, or of all tags.
      if (member) return [member]
      return (members ? [members] : groups.map(([, group]) => group.members)).flatMap((each) => [
        ...each.values(),
      ])
    },
  }
}

/** The translations of a client as members with language tags. */
export const toLanguageMembers = (translations: readonly ClientTranslation[]): Record<string, string> =>
  Object.fromEntries(
    translations.flatMap((translation) =>
      CLIENT_TEXTS.flatMap((text) => {
        const value = translation[text]
        return value === null ? [] : [[`${MEMBER_BY_TEXT[text]}#${translation.locale}`, value]]
      }),
    ),
  )
