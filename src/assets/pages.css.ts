export const PAGES_CSS = ''
