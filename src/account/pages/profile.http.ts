import type { User } from '../../generated/prisma/client.ts'
import { getRequestWords } from '../../languages/request-language.ts'
import { listProfileFields, type SignUpField } from '../../sign-up/sign-up-fields.ts'
import { updateViewer } from '../profile.ts'
import { type AccountPage, renderVisit } from './account-page.http.ts'
import type { PageProblem } from './page-problem.ts'
import { ProfilePage } from './profile.pages.tsx'

const readMember = (user: User, { name }: SignUpField): string =>
  String((user as Record<string, unknown>)[name] ?? '')

const FIELDS = listProfileFields()

/** A person reads of web addresses, a client of the API of URLs. */
const PLAIN_ISSUES: Record<string, string> = { 'must be an absolute URL': 'must be a web address' }

/** What is wrong with the fields that the page has. */
const selectFieldIssues = (problem: PageProblem | null): Record<string, string> =>
  Object.fromEntries(
    FIELDS.flatMap(({ name }) => {
      const issue = problem?.issues?.[name]
      return issue === undefined ? [] : [[name, PLAIN_ISSUES[issue] ?? issue]]
    }),
  )

/** The profile of the user, without the addresses. */
export const PROFILE_PAGE: AccountPage = {
  path: '/profile',
  labels: {
    ...Object.fromEntries(
      FIELDS.flatMap(({ name, profile }) => (profile ? [[name, `field.${profile}`]] : [])),
    ),
    expectedUpdatedAt: 'label.profile',
  },
  show: async (visit, problem) => {
    const { call, user } = visit
    const stored = Object.fromEntries(FIELDS.map((field) => [field.name, readMember(user, field)]))
    const issues = selectFieldIssues(problem)
    const { 'updated-at': shownAt = user.updatedAt.toISOString(), ...entered } = problem?.values ?? {}
    return renderVisit(visit, problem, ProfilePage, {
      fields: FIELDS,
      values: problem ? entered : stored,
      updatedAt: problem?.status === 409 ? user.updatedAt.toISOString() : shownAt,
      issues,
      ...(Object.keys(issues).length > 0 && { messages: [getRequestWords(call.ctx).text('problem.fields')] }),
    })
  },
  forms: {
    save: [
      'saved',
      ({ ctx, user }, { 'updated-at': expectedUpdatedAt, ...entered }) => {
        // Other members keep values that an import gave them and that the rules of today reject.
        const changed = FIELDS.map((field) => [field, (entered[field.name] ?? '').trim()] as const).filter(
          ([field, value]) => value !== readMember(user, field),
        )
        const patch = Object.fromEntries(changed.map(([{ name }, value]) => [name, value]))
        return updateViewer(ctx, { ...patch, expectedUpdatedAt })
      },
    ],
  },
}
