import { t } from '../../words/words.ts'

/** Who may hold a role. */
export const HOLDERS: Readonly<Record<string, string>> = {
  USER: t('Users'),
  CLIENT: t('Machine clients'),
  MEMBER: t('Members of organizations'),
}
