"""Lockfiles of npm packages: npm, bun, pnpm, Yarn."""
