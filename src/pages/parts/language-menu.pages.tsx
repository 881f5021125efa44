import { createContext, type VNode } from 'preact'
import { useContext } from 'preact/hooks'
import { LANGUAGES } from '../../languages/catalogs.ts'
import { getLanguageName } from '../../languages/translations.ts'
import { Message, useWords } from './words.pages.tsx'

/** The path and query of the page to which the menu leads back; null for a page without a menu. */
export const LanguageReturn = createContext<string | null>(null)

const OPTIONS = LANGUAGES.map((language) => [language, getLanguageName(language)] as const)

/** Lets a person choose the language of the pages of a tenant. Posts `language` and `return_to`. */
export function LanguageMenu({ tenant }: { tenant: string }): VNode | null {
  const words = useWords()
  const returnTo = useContext(LanguageReturn)
  if (returnTo === null) return null
  return (
    <form method="post" action={`/${tenant}/language`} class="language">
      <input type="hidden" name="return_to" value={returnTo} />
      <select name="language" aria-label={words.text('page.language')} autocomplete="off">
        {OPTIONS.map(([language, name]) => (
          <option key={language} value={language} lang={language} selected={language === words.language}>
            {name}
          </option>
        ))}
      </select>
      <button type="submit" class="quiet">
        <Message of="page.changeLanguage" />
      </button>
    </form>
  )
}
