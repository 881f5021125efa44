/**
 * Fonts that systems have. No font is loaded: a page of a sign-in calls no other server. Names have single quotes,
 * which the renderer does not escape in a style element.
 */
export const FONT_STACKS = {
  system: "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Helvetica Neue',Arial,sans-serif",
  humanist: "Seravek,'Gill Sans Nova',Ubuntu,Calibri,'DejaVu Sans','Noto Sans',sans-serif",
  geometric: "Avenir,Montserrat,Corbel,'URW Gothic',Futura,'Noto Sans',sans-serif",
  rounded:
    "ui-rounded,'Hiragino Maru Gothic ProN',Quicksand,Comfortaa,'Arial Rounded MT Bold',Calibri,'Noto Sans',sans-serif",
  serif: "ui-serif,Georgia,Cambria,'Noto Serif','Times New Roman',serif",
  monospace: "ui-monospace,'SF Mono','Cascadia Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace",
} as const

export type Font = keyof typeof FONT_STACKS
export const DEFAULT_FONT: Font = 'system'

/** The radius of the corners of buttons and fields, in CSS pixels. Cards have twice as much, at most 32. */
export const CORNER_RADIUS = { min: 0, max: 24, standard: 10 }

/** How pages and mails of a tenant look. What is null or omitted is the default. */
export type Brand = {
  themeColor?: string | null
  darkThemeColor?: string | null
  cornerRadius?: number
  font?: string
}

/** The stack of a font; that of the default for an unknown name. */
export const selectFontStack = (font: string | undefined): string =>
  FONT_STACKS[(font ?? DEFAULT_FONT) as Font] ?? FONT_STACKS[DEFAULT_FONT]
