import type { Colour } from './colour.ts'

export type SceneName = 'peaks' | 'hills' | 'sea' | 'dunes'

export interface Palette {
  /** From the top of the sky to the horizon. */
  sky: readonly [Colour, Colour, Colour, Colour, Colour]
  /** The colour of the sun's or moon's disc, and that of its glow. */
  light: Colour
  glow: Colour
  disc: 'sun' | 'moon'
  /** The height of the disc above the horizon, as shares of the picture's unit. */
  altitude: readonly [lowest: number, highest: number]
  cloud: { lit: Colour; shade: Colour; cover: number }
  /** The most distant land, nearly as pale as the sky, and the foreground. */
  far: Colour
  near: Colour
  mist: Colour
  water: Colour
  /** How starry the sky is, from 0 to 1. */
  stars: number
  aurora?: readonly [low: Colour, high: Colour]
  snow?: Colour
  palms?: true
  scenes: readonly [SceneName, ...SceneName[]]
}

export type PaletteName = keyof typeof palettes

export const palettes = {
  dawn: {
    sky: ['#33437a', '#7478b2', '#d79db0', '#f8c6a4', '#feeccb'],
    light: '#fff6df',
    glow: '#ffc48c',
    disc: 'sun',
    altitude: [0.08, 0.22],
    cloud: { lit: '#ffdcc6', shade: '#8d83b4', cover: 0.5 },
    far: '#b7a0c0',
    near: '#1b2140',
    mist: '#f8d2bd',
    water: '#3b4676',
    stars: 0,
    scenes: ['peaks', 'hills', 'sea'],
  },
  sunset: {
    sky: ['#1e1c4d', '#58306f', '#b8486d', '#f57d5b', '#ffc873'],
    light: '#fff0c4',
    glow: '#ff9850',
    disc: 'sun',
    altitude: [0.06, 0.16],
    cloud: { lit: '#ffab7c', shade: '#5a2f68', cover: 0.45 },
    far: '#b0587a',
    near: '#150e2b',
    mist: '#f8a072',
    water: '#3a2258',
    stars: 0.12,
    scenes: ['sea', 'peaks', 'hills'],
  },
  dusk: {
    sky: ['#0d1738', '#26346c', '#5d5a98', '#b184ab', '#f3baa4'],
    light: '#fff1e0',
    glow: '#e6b7c4',
    disc: 'moon',
    altitude: [0.26, 0.4],
    cloud: { lit: '#d9a3b4', shade: '#33376d', cover: 0.58 },
    far: '#7b709f',
    near: '#090e24',
    mist: '#caa0b6',
    water: '#1c2350',
    stars: 0.4,
    scenes: ['peaks', 'hills', 'sea'],
  },
  night: {
    sky: ['#040815', '#0a1430', '#142853', '#26497c', '#5384a8'],
    light: '#f6f7ff',
    glow: '#9dbde8',
    disc: 'moon',
    altitude: [0.3, 0.44],
    cloud: { lit: '#5f86b3', shade: '#0f1d3d', cover: 0.64 },
    far: '#34567f',
    near: '#03060f',
    mist: '#7299bb',
    water: '#0a1733',
    stars: 1,
    scenes: ['peaks', 'hills', 'sea'],
  },
  aurora: {
    sky: ['#030716', '#06142b', '#0a2a42', '#114a58', '#2c7d7a'],
    light: '#eefff8',
    glow: '#7fd8c4',
    disc: 'moon',
    altitude: [0.34, 0.46],
    cloud: { lit: '#2f7f80', shade: '#06172b', cover: 0.7 },
    far: '#215466',
    near: '#02070e',
    mist: '#3f8f8c',
    water: '#062334',
    stars: 0.9,
    aurora: ['#58ffae', '#8a5cff'],
    snow: '#6fb0b4',
    scenes: ['peaks', 'hills'],
  },
  tropical: {
    sky: ['#0a5aa3', '#1d8cc6', '#58c0da', '#aee5dd', '#fdf2cf'],
    light: '#fffdf0',
    glow: '#fff0b4',
    disc: 'sun',
    altitude: [0.22, 0.36],
    cloud: { lit: '#ffffff', shade: '#8fc4dc', cover: 0.5 },
    far: '#64b0bb',
    near: '#08303a',
    mist: '#e2f6ea',
    water: '#08809a',
    stars: 0,
    palms: true,
    scenes: ['sea'],
  },
  desert: {
    sky: ['#29699d', '#6ba4c0', '#c1cbbd', '#f5d8a6', '#fde9c6'],
    light: '#fff8e2',
    glow: '#ffdf9c',
    disc: 'sun',
    altitude: [0.14, 0.3],
    cloud: { lit: '#fff3dc', shade: '#b9b5a8', cover: 0.6 },
    far: '#dcae86',
    near: '#7a3420',
    mist: '#f8dcb2',
    water: '#4d7f8c',
    stars: 0,
    scenes: ['dunes'],
  },
  ember: {
    sky: ['#2b1a3f', '#6a2c50', '#bb4a4c', '#ee8350', '#ffce84'],
    light: '#fff2cf',
    glow: '#ffa75c',
    disc: 'sun',
    altitude: [0.08, 0.2],
    cloud: { lit: '#ffb384', shade: '#5c2a4c', cover: 0.54 },
    far: '#cf7a5c',
    near: '#2a1020',
    mist: '#f9b27c',
    water: '#4a2138',
    stars: 0.1,
    scenes: ['dunes', 'hills'],
  },
  alpine: {
    sky: ['#185495', '#4488c6', '#8cbde0', '#cde3ee', '#f6f0e2'],
    light: '#fffdf2',
    glow: '#fff2cf',
    disc: 'sun',
    altitude: [0.3, 0.42],
    cloud: { lit: '#ffffff', shade: '#9db9d3', cover: 0.5 },
    far: '#93b3cf',
    near: '#0f2c34',
    mist: '#e3eef2',
    water: '#17506f',
    stars: 0,
    snow: '#ffffff',
    scenes: ['peaks', 'hills'],
  },
  arctic: {
    sky: ['#456fa6', '#86a8d0', '#bccde2', '#ecdfe2', '#fde9d9'],
    light: '#fffaf0',
    glow: '#ffe3c4',
    disc: 'sun',
    altitude: [0.12, 0.24],
    cloud: { lit: '#fff6f0', shade: '#a9b8d3', cover: 0.56 },
    far: '#b3c4dc',
    near: '#1d3554',
    mist: '#f1f2f6',
    water: '#3f6c94',
    stars: 0,
    snow: '#ffffff',
    scenes: ['peaks'],
  },
  autumn: {
    sky: ['#48678b', '#8ea5ae', '#d9c89e', '#f6d08a', '#fde6b4'],
    light: '#fffae6',
    glow: '#ffd98c',
    disc: 'sun',
    altitude: [0.14, 0.28],
    cloud: { lit: '#fff0d0', shade: '#9c9a94', cover: 0.56 },
    far: '#bda88e',
    near: '#2a1a12',
    mist: '#f8dfb0',
    water: '#4a5a5c',
    stars: 0,
    scenes: ['hills', 'peaks'],
  },
} as const satisfies Record<string, Palette>
