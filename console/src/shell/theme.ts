/** The color scheme: that of the system unless the person has chosen one. */
export type Theme = 'system' | 'light' | 'dark'
const STORED_THEME = 'console.theme'

export const getTheme = (): Theme => (localStorage.getItem(STORED_THEME) as Theme | null) ?? 'system'

export function applyTheme(theme: Theme = getTheme()): void {
  if (theme === 'system') {
    localStorage.removeItem(STORED_THEME)
    delete document.documentElement.dataset.theme
  } else {
    localStorage.setItem(STORED_THEME, theme)
    document.documentElement.dataset.theme = theme
  }
}
